{{ config(materialized=inlined()) }}
-- One row per departure in force and position of its leg, once it is due, also of departures that did not run: when its
-- bus was scheduled there, and how long after the one before.
select
    calls.departure_key,
    calls.operator,
    calls.service_date,
    calls.line_code,
    calls.direction,
    calls.position,
    calls.stop_code,
    calls.service_hour,
    calls.scheduled_at,
    cast(
        round(seconds_between(lag(calls.scheduled_at) over stop_buses, calls.scheduled_at)) as bigint
    ) as scheduled_headway_seconds
from {{ built('scheduled_calls') }} as calls
inner join {{ last_answers() }} as last_answers using (operator)
where calls.scheduled_at <= last_answers.last_received_at
window stop_buses as (
    partition by calls.operator, calls.service_date, calls.line_code, calls.direction, calls.stop_code
    order by calls.scheduled_at, calls.departure_key, calls.position
)
