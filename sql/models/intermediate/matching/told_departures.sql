-- One row per operator, service_date and trip with a timetable time of its own: the departure it tells.
-- Per line and direction: the departure nearest to when the trip was due where its leg begins, and of several trips
-- that want the same one the nearest has it.
with starts as (
    -- when a trip is thought to have been due where its leg begins, by each of its timetable times: the one there, or
    -- one at a later stop less the running time; where its leg begins anywhere, its first known one is tried
    select
        visits.*,
        case
            when visits.origin_position is null then visits.position
            -- at the origin itself its own time tells exactly; a row that gave way to it may have been another's
            when visits.position = visits.origin_position and visits.replaced_at is null then 1
            when
                visits.position = visits.origin_position
                or coalesce(of_hour.offset_seconds, of_day.offset_seconds) is not null
                then 2
            else 3
        end as grade,
        case
            when coalesce(visits.position = visits.origin_position, true) then visits.theoretical_at
            else
                {{ add_seconds(
                    'visits.theoretical_at',
                    '-coalesce(of_hour.offset_seconds, of_day.offset_seconds, visits.pace_seconds)'
                ) }}
        end as due_at
    from {{ leg_visits() }} as visits
    left join {{ ref('departure_guesses') }} as guesses
        on
            {{ is_same_visit('visits', 'guesses') }}
            and {{ is_built('guesses.service_date') }}
    {{ join_running_times('visits', 'guesses') }}
    where visits.theoretical_at is not null
),

trip_starts as (
    -- by those that tell best; of several the one in the middle
    select
        *,
        case basis
            when 'theoretical_origin' then 1.0
            when 'theoretical_later' then 0.9
            else 0.8
        end as basis_score
    from (
        select
            operator,
            service_date,
            trip_id,
            line_code,
            direction,
            leg,
            origin_position,
            case
                when origin_position is null then 'short_run'
                when min(position) = origin_position then 'theoretical_origin'
                else 'theoretical_later'
            end as basis,
            median(due_at) as due_at,
            -- how much of the way to the origin nothing but the usual pace tells
            case when min(grade) = 3 and origin_position is not null then median(pace_seconds) else 0 end
                as way_seconds
        from (
            select
                *,
                min(grade) over (
                    partition by operator, service_date, trip_id, line_code, direction, leg
                ) as best_grade
            from starts
            where due_at is not null
        ) as starts
        where grade = best_grade
        group by operator, service_date, trip_id, line_code, direction, leg, origin_position
    ) as graded
),

nearest as (
    select *
    from (
        select
            trips.*,
            rules.match_theoretical_seconds as bound_seconds,
            rules.ruleset_version,
            departures.departure_at,
            abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}) as off_seconds,
            row_number() over (
                partition by trips.operator, trips.service_date, trips.trip_id
                order by
                    trips.basis_score desc,
                    abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}),
                    departures.departure_at,
                    trips.line_code,
                    trips.direction,
                    departures.leg
            ) as nth_departure
        from trip_starts as trips
        {{ join_rules('trips.service_date') }}
        inner join {{ due_departures() }} as departures
            on
                trips.operator = departures.operator
                and trips.service_date = departures.service_date
                and trips.line_code = departures.line_code
                and trips.direction = departures.direction
                and trips.leg = departures.leg
                and {{ is_meant(
                    'abs(' ~ seconds_between('departures.departure_at', 'trips.due_at') ~ ')',
                    'rules.match_theoretical_seconds',
                    'trips.way_seconds',
                    'departures.headway_seconds'
                ) }}
    ) as ranked
    where nth_departure = 1
),

placed as (
    select
        *,
        row_number() over (
            partition by operator, service_date, line_code, direction, leg, departure_at
            order by basis_score desc, off_seconds, origin_position, due_at, trip_id
        ) as place
    from nearest
)

select
    placed.operator,
    placed.service_date,
    placed.trip_id,
    placed.line_code,
    placed.direction,
    placed.leg,
    placed.origin_position,
    placed.departure_at,
    placed.place,
    placed.due_at,
    placed.basis,
    placed.basis_score * (1 - 0.5 * least(placed.off_seconds / placed.bound_seconds, 1)) as match_score,
    placed.ruleset_version
from placed
inner join {{ numbered_departures() }} as departures
    on
        placed.operator = departures.operator
        and placed.service_date = departures.service_date
        and placed.line_code = departures.line_code
        and placed.direction = departures.direction
        and placed.leg = departures.leg
        and placed.departure_at = departures.departure_at
        and placed.place = departures.place
