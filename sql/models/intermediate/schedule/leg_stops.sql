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
    from {{ ref('timetable_departures') }} as departures
    left join {{ ref('departure_matches') }} as matches
        on
            departures.operator = matches.operator
            and departures.service_date = matches.service_date
            and departures.line_code = matches.line_code
            and departures.direction = matches.direction
            and departures.leg = matches.leg
            and departures.departure_at = matches.departure_at
            and {{ is_built('matches.service_date') }}
    where departures.slot_number = 1 and {{ is_built('departures.service_date') }}
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
    from {{ ref('stop_visits') }} as visits
    inner join {{ ref('departure_matches') }} as matches
        on
            visits.trip_key = matches.trip_key
            and visits.line_code = matches.line_code
            and visits.direction = matches.direction
            and {{ is_built('matches.service_date') }}
    where visits.position is not null and {{ is_built('visits.service_date') }}
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
    inner join {{ ref('line_stops_of_day') }} as stops
        on
            legs.operator = stops.operator
            and legs.service_date = stops.service_date
            and legs.line_code = stops.line_code
            and legs.direction = stops.direction
            and {{ is_built('stops.service_date') }}
    left join calls
        on
            stops.operator = calls.operator
            and stops.service_date = calls.service_date
            and stops.line_code = calls.line_code
            and stops.direction = calls.direction
            and legs.leg = calls.leg
            and stops.position = calls.position
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
