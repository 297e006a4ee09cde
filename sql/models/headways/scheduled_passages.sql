{{ config(materialized='ephemeral') }}
-- One row per departure in force and position of its leg, once it is due, also of departures that did not run: when its
-- bus was scheduled there, and how long after the one before.
with passages as (
    select
        departure_key,
        operator,
        service_date,
        line_code,
        direction,
        position,
        stop_code,
        service_hour,
        scheduled_at
    from {{ built('trip_trajectories') }}
    union all
    select
        departures.departure_key,
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        stops.position,
        stops.stop_code,
        cast(floor((departures.service_seconds + stops.offset_seconds) / 3600) as bigint) as service_hour,
        {{ add_seconds('departures.departure_at', 'stops.offset_seconds') }} as scheduled_at
    from {{ built('scheduled_departures') }} as departures
    inner join {{ built('leg_stops') }} as stops using (operator, service_date, line_code, direction, leg)
    inner join {{ last_answers() }} as last_answers using (operator)
    where
        departures.is_in_force
        and departures.outcome = 'not_run'
        and {{ add_seconds('departures.departure_at', 'stops.offset_seconds') }} <= last_answers.last_received_at
)

select
    *,
    cast(
        round({{ seconds_between('lag(scheduled_at) over stop_buses', 'scheduled_at') }}) as bigint
    ) as scheduled_headway_seconds
from passages
window stop_buses as (
    partition by operator, service_date, line_code, direction, stop_code order by scheduled_at, departure_key, position
)
