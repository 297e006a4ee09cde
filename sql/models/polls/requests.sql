{{ config(schema='core') }}
-- One row per planned request: what was requested, when, and the outcome.
select
    operator,
    request_id,
    "window",
    endpoint,
    key,
    api_version,
    service_date,
    service_seconds,
    service_hour,
    planned_at,
    sent_at,
    received_at,
    outcome,
    is_good,
    http_status,
    elapsed_ms,
    attempts,
    error,
    purpose,
    n_rows,
    body_bytes
from {{ ref('staging_requests') }}
where
    {{ is_built() }}
    and {{ is_received_around() }}
