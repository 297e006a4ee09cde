-- One row per operator, service_date, line, direction, leg and position: a stop at which departures of the leg are due.
-- A direction's stop list holds the stops of all its variants. A leg skips stops in a row that listed none of its
-- trips, if trips of the line's other legs were listed there so often that some of its own should have been.
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
    -- of buses, and of departures that anonymous rows announced
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        position,
        count(distinct departure_key) as n_calls
    from (
        select
            visits.operator,
            visits.service_date,
            visits.line_code,
            visits.direction,
            matches.leg,
            visits.position,
            matches.departure_key
        from {{ built('passing_times') }} as visits
        inner join {{ built('departure_matches') }} as matches using (trip_key, line_code, direction)
        where visits.position is not null
        union all
        select
            operator,
            service_date,
            line_code,
            direction,
            leg,
            position,
            departure_key
        from {{ built('anonymous_departures') }}
    ) as listed
    group by operator, service_date, line_code, direction, leg, position
),

counted as (
    select
        stops.operator,
        stops.service_date,
        stops.line_code,
        stops.direction,
        legs.leg,
        stops.position,
        stops.stop_sequence,
        stops.stop_code,
        legs.n_matched_trips,
        coalesce(calls.n_calls, 0) as n_calls,
        coalesce(
            cast(legs.n_matched_trips * (sum(coalesce(calls.n_calls, 0)) over line_stop) as double)
            / nullif((sum(legs.n_matched_trips) over line_stop) - legs.n_matched_trips, 0),
            0
        ) as n_expected_calls,
        count(calls.n_calls) over (
            partition by stops.operator, stops.service_date, stops.line_code, stops.direction, legs.leg
            order by stops.position rows between unbounded preceding and current row
        ) as n_called_before
    from legs
    inner join {{ built('line_stops_of_day') }} as stops
        using (operator, service_date, line_code, direction)
    left join calls using (operator, service_date, line_code, direction, leg, position)
    window line_stop as (
        partition by stops.operator, stops.service_date, stops.line_code, stops.direction, stops.position
    )
),

stretches as (
    -- stops in a row at which the leg was not listed are skipped together
    select
        *,
        sum(case when n_calls = 0 then n_expected_calls end) over (
            partition by operator, service_date, line_code, direction, leg, n_called_before
        ) as n_expected_in_stretch
    from counted
)

select stretches.* {{ exclude("n_expected_calls, n_called_before, n_expected_in_stretch") }}
from stretches
cross join {{ ref('inference_parameters') }} as parameters
where
    stretches.n_calls > 0
    or least(stretches.n_expected_in_stretch, stretches.n_matched_trips) < parameters.skipped_stop_trips
