-- One row per operator, service_date, line, direction, leg and position: a stop at which departures of the leg are due.
-- A direction's stop list holds the stops of all its variants. A leg skips a stop that listed none of its trips, if
-- trips of the line's other legs were listed there so often that some of its own should have been.
with legs as (
    select
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        departures.leg,
        count(matches.trip_id) as n_matched_trips
    from {{ built('timetable_departures') }} as departures
    left join {{ built('departure_matches') }} as matches
        using (operator, service_date, line_code, direction, leg, departure_at)
    where departures.slot_number = 1
    group by departures.operator, departures.service_date, departures.line_code, departures.direction, departures.leg
),

calls as (
    select
        visits.operator,
        visits.service_date,
        visits.line_code,
        visits.direction,
        matches.leg,
        visits.position,
        count(distinct visits.trip_key) as n_calls,
        median({{ seconds_between('matches.departure_at', 'visits.scheduled_at') }}) as offset_seconds
    from {{ built('stop_visits') }} as visits
    inner join {{ built('departure_matches') }} as matches using (trip_key, line_code, direction)
    where visits.position is not null
    group by
        visits.operator, visits.service_date, visits.line_code, visits.direction, matches.leg, visits.position
),

counted as (
    select
        stops.operator,
        stops.service_date,
        stops.line_code,
        stops.direction,
        legs.leg,
        stops.position,
        stops.stop_code,
        legs.n_matched_trips,
        coalesce(calls.n_calls, 0) as n_calls,
        calls.offset_seconds,
        sum(legs.n_matched_trips) over line_stop as n_line_trips,
        sum(coalesce(calls.n_calls, 0)) over line_stop as n_line_calls
    from legs
    inner join {{ built('line_stops_of_day') }} as stops
        using (operator, service_date, line_code, direction)
    left join calls using (operator, service_date, line_code, direction, leg, position)
    window line_stop as (
        partition by stops.operator, stops.service_date, stops.line_code, stops.direction, stops.position
    )
)

select
    counted.operator,
    counted.service_date,
    counted.line_code,
    counted.direction,
    counted.leg,
    counted.position,
    counted.stop_code,
    counted.n_matched_trips,
    counted.n_calls,
    counted.offset_seconds
from counted
cross join {{ ref('inference_parameters') }} as parameters
where
    counted.n_calls > 0
    or coalesce(
        cast(counted.n_matched_trips * counted.n_line_calls as double)
        / nullif(counted.n_line_trips - counted.n_matched_trips, 0),
        0
    ) < parameters.skipped_stop_trips
