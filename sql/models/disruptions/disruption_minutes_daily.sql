{{ config(materialized='view') }}
-- One row per operator, service_date and line: how long the line was disrupted (`disruption_minutes` added up).
select
    operator,
    service_date,
    line_code,
    cast(sum(hour_seconds) as bigint) as total_seconds,
    cast(sum(watched_seconds) as bigint) as watched_seconds,
    cast(sum(low_seconds) as bigint) as low_seconds,
    cast(sum(high_seconds) as bigint) as high_seconds
from {{ ref('disruption_minutes') }}
group by operator, service_date, line_code
