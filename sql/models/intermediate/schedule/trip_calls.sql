-- One row per operator, service_date, trip, stop and visit: the calls of each trip in order, what was seen of them,
-- what the timetable told of them, and the departure their trip runs as.
-- A timetable row without an id is a call of the bus that runs as its departure.
with stand_ins as (
    -- timetable rows without an id, and the trip that runs as their departure
    select
        stand_ins.*,
        matches.trip_id as matched_trip_id
    from {{ ref('stand_in_departures') }} as stand_ins
    left join (
        select
            matches.*,
            row_number() over (
                partition by operator, service_date, line_code, direction, leg, departure_at
                order by match_score desc, trip_id
            ) as nth
        from {{ ref('departure_matches') }} as matches
    ) as matches
        on
            stand_ins.operator = matches.operator
            and stand_ins.service_date = matches.service_date
            and stand_ins.line_code = matches.line_code
            and stand_ins.direction = matches.direction
            and stand_ins.leg = matches.leg
            and stand_ins.departure_at = matches.departure_at
            and matches.nth = 1
    where {{ is_built('stand_ins.service_date') }}
),

known as (
    -- a bus takes over the timetable time that its stop showed without an id; the rest are calls nobody saw
    select
        runs.operator,
        runs.service_date,
        case
            when stand_ins.departure_at is null then runs.trip_id
            when stand_ins.matched_trip_id is not null then stand_ins.matched_trip_id
            else {{ stand_in_trip('stand_ins') }}
        end as trip_id,
        case when not runs.is_stand_in then runs.listed_id end as listed_trip_id,
        runs.is_stand_in,
        runs.visit_number,
        runs.theoretical_at,
        runs.stop_code,
        runs.line_code,
        runs.direction,
        runs.position,
        runs.stop_sequence,
        runs.line_label,
        runs.is_slash_variant,
        runs.destination,
        runs.service_hour,
        runs.passed_after,
        runs.passed_before,
        runs.passed_at,
        runs.n_polls,
        runs.n_full_polls,
        runs.n_theoretical_polls,
        runs.n_withdrawn_polls,
        runs.first_seen_at,
        runs.last_seen_at,
        runs.is_lost,
        runs.is_out_of_order,
        case when runs.is_stand_in then stand_ins.departure_at end as stand_in_departure_at
    from {{ ref('visit_runs') }} as runs
    left join stand_ins
        on
            {{ is_same_visit('runs', 'stand_ins') }}
    where {{ is_built('runs.service_date') }}
),

shared as (
    select
        *,
        max(case when is_stand_in then theoretical_at end) over one_call as announced_at,
        row_number() over one_call as nth
    from known
    window one_call as (
        partition by
            operator, service_date, trip_id, line_code, direction, position,
            case when stand_in_departure_at is null and is_stand_in then stop_code end
        order by is_stand_in, visit_number, theoretical_at
        rows between unbounded preceding and unbounded following
    )
),

evidence as (
    select
        operator,
        service_date,
        trip_id,
        listed_trip_id,
        stop_code,
        line_code,
        direction,
        position,
        stop_sequence,
        line_label,
        is_slash_variant,
        destination,
        service_hour,
        passed_after,
        passed_before,
        passed_at,
        n_polls,
        n_full_polls,
        n_theoretical_polls,
        n_withdrawn_polls,
        first_seen_at,
        last_seen_at,
        is_lost,
        is_out_of_order,
        coalesce(theoretical_at, announced_at) as theoretical_at,
        row_number() over (
            partition by operator, service_date, trip_id, stop_code
            order by coalesce(theoretical_at, announced_at, passed_at), visit_number
        ) as visit_number
    from shared
    where nth = 1 or not is_stand_in
)

select
    evidence.operator,
    evidence.service_date,
    evidence.trip_id,
    evidence.listed_trip_id,
    evidence.stop_code,
    evidence.visit_number,
    evidence.line_code,
    evidence.direction,
    evidence.position,
    evidence.stop_sequence,
    evidence.line_label,
    evidence.is_slash_variant,
    evidence.destination,
    evidence.service_hour,
    evidence.theoretical_at,
    evidence.passed_after,
    evidence.passed_before,
    evidence.passed_at,
    evidence.n_polls,
    evidence.n_full_polls,
    evidence.n_theoretical_polls,
    evidence.n_withdrawn_polls,
    evidence.first_seen_at,
    evidence.last_seen_at,
    evidence.is_lost,
    evidence.is_out_of_order,
    matches.departure_at,
    matches.leg,
    coalesce(
        evidence.theoretical_at,
        case when evidence.position = matches.origin_position then matches.departure_at end
    ) as told_at,
    row_number() over (
        partition by
            evidence.operator, evidence.service_date, evidence.trip_id, evidence.line_code, evidence.direction
        order by evidence.position nulls last, evidence.visit_number, evidence.stop_code
    ) as call_number
from evidence
left join {{ ref('departure_matches') }} as matches
    on
        evidence.operator = matches.operator
        and evidence.service_date = matches.service_date
        and evidence.trip_id = matches.trip_id
        and evidence.line_code = matches.line_code
        and evidence.direction = matches.direction
        and {{ is_built('matches.service_date') }}
