-- One row per operator, service_date, trip, stop and visit: the calls of each trip in order, what was observed of them,
-- their timetable times, and the departure that the trip runs as.
-- An anonymous row is a call of the trip that runs as its departure.
with anonymous_rows as (
    select
        departures.listed_visit_key,
        departures.departure_at,
        coalesce(matches.trip_id, {{ anonymous_trip_id('departures') }}) as trip_id
    from {{ built('anonymous_departures') }} as departures
    left join (
        select
            *,
            row_number() over (
                partition by operator, service_date, line_code, direction, leg, departure_at
                order by match_score desc, trip_id
            ) as nth
        from {{ built('departure_matches') }}
    ) as matches
        on
            departures.operator = matches.operator
            and departures.service_date = matches.service_date
            and departures.line_code = matches.line_code
            and departures.direction = matches.direction
            and departures.leg = matches.leg
            and departures.departure_at = matches.departure_at
            and matches.nth = 1
),

visits as (
    select
        visits.operator,
        visits.service_date,
        coalesce(anonymous_rows.trip_id, visits.trip_id) as trip_id,
        case when not visits.is_anonymous then {{ trip_id_of('visits.listed_id') }} end as listed_trip_id,
        visits.is_anonymous,
        visits.visit_number,
        visits.theoretical_at,
        visits.stop_code,
        visits.line_code,
        visits.direction,
        visits.position,
        visits.stop_sequence,
        visits.line_label,
        visits.is_slash_variant,
        visits.destination,
        visits.service_hour,
        visits.passed_after,
        visits.passed_before,
        visits.passed_at,
        visits.n_polls,
        visits.n_full_polls,
        visits.n_theoretical_polls,
        visits.n_withdrawn_polls,
        visits.withdrawn_at,
        visits.first_seen_at,
        visits.last_seen_at,
        visits.is_lost,
        visits.is_out_of_order,
        anonymous_rows.departure_at as announced_departure_at
    from {{ built('passing_times') }} as visits
    left join anonymous_rows using (listed_visit_key)
),

merged as (
    -- a visit takes over the timetable time of an anonymous row of the same call; other such rows are calls without
    -- a live listing
    select
        *,
        coalesce(
            theoretical_at, max(case when is_anonymous then theoretical_at end) over one_call
        ) as timetable_row_at,
        row_number() over one_call as nth
    from visits
    window one_call as (
        partition by
            operator, service_date, trip_id, line_code, direction, position,
            case when announced_departure_at is null and is_anonymous then stop_code end
        order by is_anonymous, visit_number, theoretical_at
        rows between unbounded preceding and unbounded following
    )
),

calls as (
    select
        {{ hashed_key(['operator', 'service_date', 'trip_id']) }} as trip_key,
        *,
        row_number() over (
            partition by operator, service_date, trip_id, stop_code
            order by coalesce(timetable_row_at, passed_at), visit_number
        ) as call_visit_number
    from merged
    where nth = 1 or not is_anonymous
)

select
    {{ hashed_key([
        'calls.operator', 'calls.service_date', key_part('calls.trip_id'), 'calls.stop_code', 'calls.call_visit_number'
    ]) }} as visit_key,
    calls.trip_key,
    calls.operator,
    calls.service_date,
    calls.trip_id,
    calls.listed_trip_id,
    calls.stop_code,
    calls.call_visit_number as visit_number,
    calls.line_code,
    calls.direction,
    calls.position,
    calls.stop_sequence,
    calls.line_label,
    calls.is_slash_variant,
    calls.destination,
    calls.service_hour,
    calls.timetable_row_at as theoretical_at,
    calls.passed_after,
    calls.passed_before,
    calls.passed_at,
    calls.n_polls,
    calls.n_full_polls,
    calls.n_theoretical_polls,
    calls.n_withdrawn_polls,
    calls.withdrawn_at,
    calls.first_seen_at,
    calls.last_seen_at,
    calls.is_lost,
    calls.is_out_of_order,
    matches.leg,
    coalesce(
        calls.timetable_row_at,
        case when calls.position = matches.origin_position then matches.departure_at end
    ) as timetable_at,
    row_number() over (
        partition by calls.trip_key, calls.line_code, calls.direction
        order by calls.position nulls last, calls.call_visit_number, calls.stop_code
    ) as call_number
from calls
left join {{ built('departure_matches') }} as matches using (trip_key, line_code, direction)
