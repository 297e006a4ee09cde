{{ config(schema='core') }}
-- One row per planned request: what was requested, when, and the outcome.
select * {{ exclude("draws, received_date") }}
from {{ ref('staging_requests') }}
where
    {{ is_built() }}
    and {{ is_received_around() }}
