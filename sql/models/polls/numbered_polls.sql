{{ config(materialized='ephemeral') }}
-- One row per operator and good answer about the passages of a stop around the service dates being built, numbered so
-- that the answers of one stop are consecutive and in order of time.
-- Ephemeral, because the numbers differ from build to build.
select
    *,
    row_number() over (order by operator, stop_code, polled_at, request_id) as poll_number
from {{ ref('stop_polls') }}
where {{ is_received_around() }}
