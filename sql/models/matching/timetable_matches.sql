-- One row per operator, service_date and trip with timetable times of its own: the departure that they tell.
-- A trip takes the departure nearest to when it was due at the origin of its leg; of several trips that take the same
-- one, the best fitting keeps it.
with starts as (
    -- when a trip was due at the origin, by each of its timetable times: the one there, or one at a later stop less the
    -- running time. Where the origin is not known, it is taken to be the first known stop of the trip
    select
        *,
        case
            when origin_position is null then position
            -- its own time at the origin is exact; that of a row it replaced may have been another trip's
            when position = origin_position and replaced_at is null then 1
            when position = origin_position or running_seconds is not null then 2
            else 3
        end as grade,
        case
            when coalesce(position = origin_position, true) then theoretical_at
            else {{ add_seconds('theoretical_at', '-coalesce(running_seconds, from_origin_seconds)') }}
        end as due_at
    from {{ built('leg_visits') }}
    where theoretical_at is not null and not is_anonymous
),

trip_starts as (
    -- the median of those of the best grade
    select
        *,
        case basis
            when 'theoretical_origin' then 1.0
            when 'theoretical_later' then 0.9
            else 0.8
        end as basis_score
    from (
        select
            trip_key,
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
            -- how much of the way from the origin is estimated by travel times alone
            case when min(grade) = 3 and origin_position is not null then median(from_origin_seconds) else 0 end
                as from_origin_seconds,
            case when max(n_replaced_rows) = max(n_rows) then max(n_replaced_rows) end as n_replaced_rows
        from (
            select
                *,
                min(grade) over (partition by trip_key, leg) as best_grade,
                count(replaced_at) over (partition by trip_key, leg) as n_replaced_rows,
                count(*) over (partition by trip_key, leg) as n_rows
            from starts
            where due_at is not null
        ) as starts
        where grade = best_grade
        group by trip_key, operator, service_date, trip_id, line_code, direction, leg, origin_position
    ) as graded
),

nearest as (
    {{ nearest_departures(
        'trip_starts', 'trip_key', 'due_at', 'match_theoretical_seconds', best_first='basis_score desc'
    ) }}
),

placed as (
    select
        *,
        row_number() over (
            partition by operator, service_date, line_code, direction, leg, departure_at
            order by basis_score desc, off_seconds, origin_position, due_at, trip_id
        ) as slot_number
    from nearest
)

select
    placed.trip_key,
    departures.departure_key,
    placed.operator,
    placed.service_date,
    placed.trip_id,
    placed.line_code,
    placed.direction,
    placed.leg,
    placed.origin_position,
    placed.departure_at,
    placed.due_at,
    placed.basis,
    placed.n_replaced_rows,
    placed.basis_score * (1 - 0.5 * least(placed.off_seconds / parameters.match_theoretical_seconds, 1)) as match_score
from placed
cross join {{ ref('inference_parameters') }} as parameters
inner join {{ built('timetable_departures') }} as departures
    using (operator, service_date, line_code, direction, leg, departure_at, slot_number)
-- the closer the departures, the more replaced rows have to agree
where
    coalesce(
        placed.n_replaced_rows * departures.headway_seconds >= parameters.match_sure_headway_seconds, true
    )
