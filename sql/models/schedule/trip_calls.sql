-- One row per operator, service_date, trip, stop and visit: the calls of each trip in order, what was observed of them,
-- their timetable times, and the departure that the trip runs as.
-- An anonymous row is a call of the trip that runs as its departure. Of several calls of a trip at one position, the
-- first that was listed live is that of its departure (is_call_of_departure).
{%- set one_call = "operator, service_date, call_trip_id, line_code, direction, position, "
    ~ "case when announced_departure_at is null and is_anonymous then stop_code end" %}
with anonymous_rows as (
    select
        departures.listed_visit_key,
        departures.departure_at,
        coalesce(matches.trip_id, {{ anonymous_trip_id('departures') }}) as trip_id
    from {{ built('anonymous_departures') }} as departures
    left join {{ first_rows(
        built('departure_matches'), ['operator', 'service_date', 'line_code', 'direction', 'leg', 'departure_at'],
        'match_score desc, trip_id'
    ) }} as matches using (operator, service_date, line_code, direction, leg, departure_at)
),

visits as (
    select
        visits.*,
        coalesce(anonymous_rows.trip_id, visits.trip_id) as call_trip_id,
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
            theoretical_at, max(case when is_anonymous then theoretical_at end) over (partition by {{ one_call }})
        ) as timetable_row_at,
        row_number() over (
            partition by {{ one_call }} order by is_anonymous, visit_number, theoretical_at nulls last
        ) as nth
    from visits
),

numbered as (
    select
        *,
        key_of(concat_ws('|', operator, service_date, call_trip_id)) as call_trip_key,
        row_number() over (
            partition by operator, service_date, call_trip_id, stop_code
            order by coalesce(timetable_row_at, passed_at), visit_number
        ) as call_visit_number
    from merged
    where nth = 1 or not is_anonymous
),

calls as (
    select
        numbered.*,
        matches.departure_key,
        matches.leg,
        matches.departure_at,
        coalesce(
            numbered.timetable_row_at,
            case when numbered.position = matches.origin_position then matches.departure_at end
        ) as timetable_at,
        row_number() over (
            partition by
                numbered.call_trip_key, numbered.line_code, numbered.direction, numbered.position
            order by
                case when numbered.n_polls > 0 then 0 else 1 end, numbered.call_visit_number, numbered.stop_code
        ) as nth_at_position
    from numbered
    left join {{ built('departure_matches') }} as matches
        on
            numbered.call_trip_key = matches.trip_key
            and numbered.line_code = matches.line_code
            and numbered.direction = matches.direction
)

select
    key_of(
        concat_ws(
            '|', calls.operator, calls.service_date, key_part(calls.call_trip_id), calls.stop_code,
            calls.call_visit_number
        )
    ) as visit_key,
    calls.call_trip_key as trip_key,
    calls.operator,
    calls.service_date,
    calls.call_trip_id as trip_id,
    case when not calls.is_anonymous then {{ trip_id_of('calls.listed_id') }} end as listed_trip_id,
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
    calls.timetable_at,
    case
        when calls.timetable_row_at is not null then 'theoretical'
        when calls.timetable_at is not null then 'timetable'
    end as schedule_source,
    calls.passed_after,
    calls.passed_before,
    calls.passed_at,
    calls.arrival_quality,
    calls.n_polls,
    calls.n_full_polls,
    calls.n_theoretical_polls,
    calls.n_withdrawn_polls,
    calls.withdrawn_at,
    calls.first_seen_at,
    calls.last_seen_at,
    calls.is_lost,
    calls.is_out_of_order,
    calls.departure_key,
    departures.trip_id_scheduled,
    calls.leg,
    calls.position is not null and calls.departure_key is not null and calls.nth_at_position = 1
        as is_call_of_departure,
    seconds_between(calls.departure_at, calls.timetable_at) as own_seconds
from calls
left join {{ built('timetable_departures') }} as departures using (departure_key)
