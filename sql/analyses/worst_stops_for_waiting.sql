-- At which stops do passengers of frequent lines wait longest beyond the timetable?
-- Excess wait over the latest four weeks: actual minus scheduled mean wait, over the headways that could be observed.
with weeks as (
    select max(service_date) - 27 as from_date
    from marts.headways
),

stops as (
    select
        headways.stop_code,
        headways.line_code,
        headways.direction,
        sum(headways.n_actual) as n_headways,
        sum(headways.actual_seconds_squared_sum) / nullif(2 * sum(headways.actual_seconds_sum), 0) as awt_seconds,
        sum(headways.scheduled_seconds_squared_sum) / nullif(2 * sum(headways.scheduled_seconds_sum), 0)
            as swt_seconds
    from marts.headways
    inner join weeks on headways.service_date >= weeks.from_date
    where headways.null_reason is null
    group by headways.stop_code, headways.line_code, headways.direction
)

select
    stop_code,
    line_code,
    direction,
    n_headways,
    round(awt_seconds / 60, 2) as actual_wait_minutes,
    round(swt_seconds / 60, 2) as scheduled_wait_minutes,
    round((awt_seconds - swt_seconds) / 60, 2) as excess_wait_minutes
from stops
order by awt_seconds - swt_seconds desc, stop_code, line_code, direction
limit 20
