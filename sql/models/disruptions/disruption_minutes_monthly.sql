{{ config(materialized='view') }}
-- One row per operator, month and line, of its dates that are over: how long the line was disrupted.
select
    operator,
    month_period,
    line_code,
    count(*) as n_dates,
    cast(sum(total_seconds) as bigint) as total_seconds,
    cast(sum(watched_seconds) as bigint) as watched_seconds,
    cast(sum(low_seconds) as bigint) as low_seconds,
    cast(sum(high_seconds) as bigint) as high_seconds
from {{ ref('disruption_minutes_daily') }}
inner join {{ ref('closed_dates') }} using (operator, service_date)
group by operator, month_period, line_code
