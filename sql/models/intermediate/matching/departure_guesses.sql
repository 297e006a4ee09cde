-- One row per operator, service_date, trip, stop and visit with a timetable time: the departure its trip seems to run
-- as, guessed from the first such stop of the trip, before the running times of the day are known.
with visits as (
    select
        runs.operator,
        runs.service_date,
        runs.trip_id,
        runs.stop_code,
        runs.visit_number,
        runs.line_code,
        runs.direction,
        runs.position,
        runs.is_stand_in,
        runs.theoretical_at,
        legs.leg,
        legs.origin_position,
        paces.pace_seconds - origin_paces.pace_seconds as way_seconds,
        {{ add_seconds('runs.theoretical_at', '(origin_paces.pace_seconds - paces.pace_seconds)') }} as began_at,
        row_number() over (
            partition by
                runs.operator, runs.service_date, runs.trip_id, runs.line_code, runs.direction, legs.leg
            order by runs.position, runs.visit_number, runs.stop_code
        ) as nth_stop
    from {{ ref('visit_runs') }} as runs
    inner join {{ ref('trip_legs') }} as legs
        on
            runs.operator = legs.operator
            and runs.service_date = legs.service_date
            and runs.trip_id = legs.trip_id
            and runs.line_code = legs.line_code
            and runs.direction = legs.direction
            and runs.position >= legs.origin_position
    inner join {{ ref('line_paces') }} as paces
        on
            runs.operator = paces.operator
            and runs.service_date = paces.service_date
            and runs.line_code = paces.line_code
            and runs.direction = paces.direction
            and runs.position = paces.position
    inner join {{ ref('line_paces') }} as origin_paces
        on
            legs.operator = origin_paces.operator
            and legs.service_date = origin_paces.service_date
            and legs.line_code = origin_paces.line_code
            and legs.direction = origin_paces.direction
            and legs.origin_position = origin_paces.position
    where {{ is_built('runs.service_date') }} and runs.theoretical_at is not null
),

nearest as (
    select
        firsts.operator,
        firsts.service_date,
        firsts.trip_id,
        firsts.line_code,
        firsts.direction,
        departures.leg,
        departures.departure_at,
        departures.service_hour,
        row_number() over (
            partition by firsts.operator, firsts.service_date, firsts.trip_id, firsts.line_code, firsts.direction
            order by
                abs({{ seconds_between('departures.departure_at', 'firsts.began_at') }}),
                departures.departure_at,
                departures.leg
        ) as nth
    from visits as firsts
    {{ join_rules('firsts.service_date') }}
    inner join {{ due_departures() }} as departures
        on
            firsts.operator = departures.operator
            and firsts.service_date = departures.service_date
            and firsts.line_code = departures.line_code
            and firsts.direction = departures.direction
            and firsts.leg = departures.leg
            and {{ is_meant(
                'abs(' ~ seconds_between('departures.departure_at', 'firsts.began_at') ~ ')',
                'rules.match_guess_seconds',
                'firsts.way_seconds',
                'departures.headway_seconds'
            ) }}
    where firsts.nth_stop = 1
)

select
    visits.operator,
    visits.service_date,
    visits.trip_id,
    visits.stop_code,
    visits.visit_number,
    visits.line_code,
    visits.direction,
    visits.position,
    visits.is_stand_in,
    visits.theoretical_at,
    visits.leg,
    visits.origin_position,
    nearest.departure_at,
    nearest.service_hour
from visits
inner join nearest
    on
        visits.operator = nearest.operator
        and visits.service_date = nearest.service_date
        and visits.trip_id = nearest.trip_id
        and visits.line_code = nearest.line_code
        and visits.direction = nearest.direction
        and visits.leg = nearest.leg
        and nearest.nth = 1
