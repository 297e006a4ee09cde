-- At which stops do passengers of frequent lines wait longest beyond the timetable?
-- Excess wait over the latest four weeks of dates that are over: actual minus scheduled mean wait, estimated for all
-- buses that were due, observed or not, with a 95 % interval. Where too little is known it is null, with the reason.
-- Of each operator the twenty longest.
with selected as (
    select
        operator,
        coalesce(getvariable('from_date'), max(service_date) - 27) as from_date,
        least(getvariable('to_date'), max(service_date)) as to_date
    from core.closed_dates
    group by operator
)

select
    waits.operator,
    stop_code,
    line_code,
    direction,
    n_stop_hours as n_hours,
    round(estimated_awt_seconds / 60, 2) as actual_wait_minutes,
    round(due_swt_seconds / 60, 2) as scheduled_wait_minutes,
    round(estimated_ewt_seconds / 60, 2) as excess_wait_minutes,
    round(estimated_ewt_seconds_low / 60, 2) as excess_wait_minutes_low,
    round(estimated_ewt_seconds_high / 60, 2) as excess_wait_minutes_high,
    estimate_null_reason as null_reason
from selected
inner join lateral stop_waits_between(selected.from_date, selected.to_date) as waits
    on selected.operator = waits.operator
where (getvariable('lines') is null or list_contains(getvariable('lines'), line_code))
qualify
    row_number() over (
        partition by waits.operator order by estimated_ewt_seconds desc nulls last, stop_code, line_code, direction
    ) <= 20
order by waits.operator, estimated_ewt_seconds desc nulls last, stop_code, line_code, direction
