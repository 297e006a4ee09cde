{{ config(materialized='ephemeral') }}
-- One row per due call, and per hidden passage: the delay that the nearest passages of its trip tell, how far away in
-- the timetable they are, and the usual delay. Passages tell by how much the bus was later than usual there.
with neighbours as (
    select
        *,
        gap_before_seconds + gap_after_seconds as gaps_seconds
    from {{ ref('nearest_passages') }}
),

told as (
    select
        neighbours.departure_key,
        neighbours.operator,
        neighbours.service_date,
        neighbours.line_code,
        neighbours.direction,
        neighbours.position,
        neighbours.holdout,
        neighbours.weight,
        neighbours.delay_seconds,
        neighbours.usual_delay_seconds,
        case
            when neighbours.above_seconds_before is null and neighbours.above_seconds_after is null
                then case when neighbours.is_first_stop then 'none_at_first_stop' else 'none' end
            when neighbours.is_first_stop then 'first_stop'
            when neighbours.above_seconds_before is null then 'before'
            when neighbours.above_seconds_after is null then 'after'
            else 'between'
        end as side,
        neighbours.usual_delay_seconds + cast(round({{ told_by_neighbours("above_seconds") }}) as bigint)
            as told_delay_seconds,
        {{ told_by_neighbours("schedule_error_seconds") }} as told_schedule_error_seconds,
        -- of two gaps about the smaller one, of equal ones a half; where none is known, the way since the departure
        coalesce(
            neighbours.gap_before_seconds * neighbours.gap_after_seconds
            / nullif(cast(neighbours.gaps_seconds as double), 0),
            neighbours.gap_before_seconds,
            neighbours.gap_after_seconds,
            neighbours.running_seconds
        ) as gap_seconds
    from neighbours
)

select
    told.*,
    -- gaps in powers of two, delays in whole minutes
    least(
        cast(floor(
            ln(greatest(told.gap_seconds, parameters.shortest_gap_seconds) / parameters.shortest_gap_seconds) / ln(2)
        ) as bigint),
        7
    ) as gap_class,
    cast(least(greatest(floor(told.told_delay_seconds / 60), -4), 9) as bigint) as delay_class
from told
cross join {{ ref('inference_parameters') }} as parameters
