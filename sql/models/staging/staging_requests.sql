-- One row per planned request, sent or not.
select
    operator,
    request_id,
    "window",
    endpoint,
    key,
    api_version,
    planned_at,
    sent_at,
    received_at,
    outcome,
    is_good,
    http_status,
    elapsed_ms,
    attempts,
    error,
    n_rows,
    body_bytes,
    service_date,
    service_seconds,
    service_hour,
    try_cast(date as date) as received_date
from {{ lake('requests') }}
