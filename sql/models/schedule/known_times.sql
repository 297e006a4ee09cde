{{ config(meta={
    'reads_all_dates': 'times are learned over dates, for schedule_memory_days', 'other_dates_of': ['trip_calls']
}) }}
-- One row per departure in force and position of its leg: how long after the departure it is known to be due there.
-- Known from its own visit (own_seconds), from those of the same departure on earlier dates (earlier_seconds), or
-- where departures of the leg shortly before and after it agree (agreed_seconds).
with departures as (
    select
        departures.departure_key,
        departures.trip_id_scheduled,
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        departures.leg,
        departures.departure_at,
        days.zero_at,
        seconds_between(days.zero_at, departures.departure_at) as departure_seconds
    from {{ built('timetable_departures') }} as departures
    inner join {{ watched_dates() }} as watched_dates using (operator, service_date)
    inner join {{ built('service_days') }} as days using (operator, service_date)
    where departures.is_in_force
),

own_calls as (
    select * from {{ built('trip_calls') }}
    where is_call_of_departure
),

earlier_visits as (
    select
        departures.departure_key,
        visits.position,
        visits.own_seconds,
        -- how much the times of the line that both dates know differ: much, if the timetable changed in between
        median(abs(visits.own_seconds - own_calls.own_seconds)) over (
            partition by
                departures.operator, departures.service_date, departures.line_code, departures.direction,
                visits.service_date
        ) as changed_seconds
    from departures
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ ref('trip_calls') }} as visits
        on
            departures.operator = visits.operator
            and departures.line_code = visits.line_code
            and departures.direction = visits.direction
            and departures.trip_id_scheduled = visits.trip_id_scheduled
            and visits.service_date < departures.service_date
            and visits.service_date >= departures.service_date - parameters.schedule_memory_days
    left join own_calls
        on departures.departure_key = own_calls.departure_key and visits.position = own_calls.position
    where visits.is_call_of_departure and visits.own_seconds is not null
),

earlier_times as (
    select
        earlier_visits.departure_key,
        earlier_visits.position,
        median(earlier_visits.own_seconds) as earlier_seconds
    from earlier_visits
    cross join {{ ref('inference_parameters') }} as parameters
    where coalesce(earlier_visits.changed_seconds <= parameters.pattern_same_seconds, true)
    group by earlier_visits.departure_key, earlier_visits.position
),

calls as (
    select
        departures.* {{ exclude("trip_id_scheduled") }},
        stops.position,
        stops.stop_code,
        travel.travel_seconds,
        min(stops.position) over (partition by departures.departure_key) = stops.position as is_first_stop,
        max(stops.position) over (partition by departures.departure_key) = stops.position as is_last_stop,
        own_calls.visit_key,
        own_calls.schedule_source,
        own_calls.own_seconds,
        earlier_times.earlier_seconds,
        coalesce(own_calls.own_seconds, earlier_times.earlier_seconds) as known_seconds
    from departures
    inner join {{ built('leg_stops') }} as stops using (operator, service_date, line_code, direction, leg)
    left join {{ built('line_travel_times') }} as travel using (operator, service_date, line_code, direction, position)
    left join own_calls
        on departures.departure_key = own_calls.departure_key and stops.position = own_calls.position
    left join earlier_times
        on departures.departure_key = earlier_times.departure_key and stops.position = earlier_times.position
    where own_calls.departure_key is not null or not stops.is_rare
),

between_departures as (
    -- the nearest departures of the leg, before and after, whose time at the stop is known
    select
        *,
        {{ nearest_known({"known": "known_seconds", "departure": "departure_seconds"}, "known_seconds is not null") }}
    from calls
    window
        {{ windows_around(
            "operator, service_date, line_code, direction, leg, position",
            "departure_seconds, departure_key"
        ) }}
)

select
    calls.* {{ exclude("known_seconds, known_before, known_after, departure_before, departure_after") }},
    case
        when calls.known_before is null and calls.known_after is null and calls.is_first_stop then 0
        when
            abs(calls.known_after - calls.known_before) <= parameters.pattern_same_seconds
            and calls.departure_after - calls.departure_before <= parameters.pattern_gap_seconds
            then calls.known_before
        when
            calls.departure_seconds - calls.departure_before <= parameters.pattern_near_seconds
            and coalesce(
                calls.departure_seconds - calls.departure_before
                <= calls.departure_after - calls.departure_seconds,
                true
            )
            then calls.known_before
        when calls.departure_after - calls.departure_seconds <= parameters.pattern_near_seconds then calls.known_after
    end as agreed_seconds
from between_departures as calls
cross join {{ ref('inference_parameters') }} as parameters
