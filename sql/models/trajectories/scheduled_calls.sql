-- One row per departure in force that may have run, and position of its leg: its scheduled time there, if it is known.
-- It is known from its own visit (own_seconds), or where departures of the leg shortly before and after it agree
-- (agreed_seconds), both in seconds after the departure.
with departures as (
    select
        departures.*,
        matches.trip_key,
        matches.basis,
        timetable.headway_seconds,
        parameters.match_sure_headway_seconds,
        parameters.match_confusion_seconds,
        -- a bus seen live only, or one that replaced few rows, may have run as the departure before or after: the
        -- closer these are, the more rows have to agree
        coalesce(
            timetable.headway_seconds * case when matches.basis = 'live' then 1 else matches.n_replaced_rows end
            < parameters.match_sure_headway_seconds,
            false
        ) as is_guessed,
        days.zero_at,
        {{ seconds_between('days.zero_at', 'departures.departure_at') }} as departure_seconds
    from {{ built('scheduled_departures') }} as departures
    inner join {{ watched_dates() }} as watched_dates using (operator, service_date)
    inner join {{ built('service_days') }} as days using (operator, service_date)
    inner join {{ built('timetable_departures') }} as timetable using (departure_key)
    cross join {{ ref('inference_parameters') }} as parameters
    left join {{ built('departure_matches') }} as matches using (departure_key)
    where departures.is_in_force and departures.outcome != 'not_run'
),

calls as (
    select
        departures.*,
        stops.position,
        stops.stop_code,
        times.travel_seconds,
        min(stops.position) over (partition by departures.departure_key) = stops.position as is_first_stop,
        max(stops.position) over (partition by departures.departure_key) = stops.position as is_last_stop,
        visits.visit_key,
        visits.schedule_source,
        {{ seconds_between('departures.departure_at', 'visits.scheduled_at') }} as own_seconds,
        visits.passed_at,
        visits.passed_after,
        visits.passed_before,
        visits.arrival_quality,
        coalesce(visits.is_out_of_order, false) as is_out_of_order
    from departures
    inner join {{ built('leg_stops') }} as stops using (operator, service_date, line_code, direction, leg)
    left join {{ built('line_travel_times') }} as times using (operator, service_date, line_code, direction, position)
    left join {{ ref('first_visits') }} as visits
        on
            departures.trip_key = visits.trip_key
            and departures.line_code = visits.line_code
            and departures.direction = visits.direction
            and stops.position = visits.position
),

between_departures as (
    -- the nearest departures of the leg, before and after, whose time at the stop is known
    select
        *,
        {{ nearest_known({"own": "own_seconds", "departure": "departure_seconds"}, "own_seconds is not null") }}
    from calls
    window
        {{ windows_around(
            "operator, service_date, line_code, direction, leg, position",
            "departure_seconds, departure_key"
        ) }}
)

select
    calls.departure_key,
    calls.operator,
    calls.service_date,
    calls.line_code,
    calls.direction,
    calls.leg,
    calls.departure_at,
    calls.zero_at,
    calls.departure_seconds,
    calls.position,
    calls.stop_code,
    calls.is_first_stop,
    calls.is_last_stop,
    calls.trip_key,
    calls.match_score,
    calls.is_guessed,
    -- the closer the departures, the more often a guess is wrong by one. A departure that was announced and has no trip
    -- is more doubtful: its bus may have been so late that it was taken for the next one
    case
        when calls.is_guessed
            then calls.headway_seconds * exp(-calls.headway_seconds / (2.0 * calls.match_confusion_seconds))
        when calls.basis = 'anonymous' and calls.headway_seconds < calls.match_sure_headway_seconds
            then calls.headway_seconds * exp(-calls.headway_seconds / (4.0 * calls.match_confusion_seconds))
        else 0
    end as match_error_seconds,
    calls.visit_key,
    calls.schedule_source,
    calls.own_seconds,
    case
        when calls.own_before is null and calls.own_after is null and calls.is_first_stop then 0
        when
            abs(calls.own_after - calls.own_before) <= parameters.pattern_same_seconds
            and calls.departure_after - calls.departure_before <= parameters.pattern_gap_seconds
            then calls.own_before
        when
            calls.departure_seconds - calls.departure_before <= parameters.pattern_near_seconds
            and coalesce(
                calls.departure_seconds - calls.departure_before
                <= calls.departure_after - calls.departure_seconds,
                true
            )
            then calls.own_before
        when calls.departure_after - calls.departure_seconds <= parameters.pattern_near_seconds then calls.own_after
    end as agreed_seconds,
    calls.travel_seconds,
    calls.passed_at,
    calls.passed_after,
    calls.passed_before,
    calls.arrival_quality,
    calls.is_out_of_order,
    calls.ruleset_version
from between_departures as calls
cross join {{ ref('inference_parameters') }} as parameters
