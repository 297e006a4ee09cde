-- One row per due call, and per evidenced passage and hold-out that hides it: the delay that the nearest passages of
-- its trip tell, how far away in the timetable they are, and the usual delay. Passages tell by how much the bus was
-- later than usual there, if their scheduled times are known well enough.
-- A hold-out hides a part of what was observed, so that what the rest tells of it can be compared with what was
-- observed: 1 each passage alone, 2 a half in periods, 3 all after and 4 all before a moment of the trip, 5 the whole
-- trip. Hold-out 0 hides nothing.
with calls as (
    select
        calls.*,
        usual.usual_delay_seconds,
        calls.delay_seconds - usual.usual_delay_seconds as above_seconds,
        -- only these show how wrong a guess is
        coalesce(calls.arrival_quality = 'evidenced', false) and calls.is_timed as is_evidenced
    from {{ built('due_calls') }} as calls
    inner join {{ built('usual_delays') }} as usual using (operator, service_date, departure_key, position)
),

observed_trips as (
    select
        departure_key,
        min(case when is_evidenced then scheduled_seconds end)
        + {{ chance('departure_key') }} * (
            max(case when is_evidenced then scheduled_seconds end)
            - min(case when is_evidenced then scheduled_seconds end)
        ) as moment_seconds,
        -- its evidenced passages stand for all of the trip: otherwise what is learned would be true of quiet hours and
        -- long trips, of which most is observed. On average 100, and whole, so that sums do not depend on the order
        cast(round(
            100.0 * count(*) / count(case when is_evidenced then 1 end)
            * sum(count(case when is_evidenced then 1 end)) over (partition by operator, service_date)
            / sum(count(*)) over (partition by operator, service_date)
        ) as bigint) as weight
    from calls
    group by operator, service_date, departure_key
    having count(case when is_evidenced then 1 end) > 0
),

held_out as (
    select
        calls.*,
        holdouts.holdout,
        observed_trips.weight,
        case holdouts.holdout
            when 2
                then
                    {{ chance(
                        'calls.departure_key, floor(calls.scheduled_seconds / parameters.holdout_period_seconds)'
                    ) }} < 0.5
            when 3 then calls.scheduled_seconds > observed_trips.moment_seconds
            when 4 then calls.scheduled_seconds < observed_trips.moment_seconds
            when 5 then true
            else false
        end as is_hidden
    from calls
    left join observed_trips using (departure_key)
    cross join (values (0), (1), (2), (3), (4), (5)) as holdouts (holdout)
    cross join {{ ref('inference_parameters') }} as parameters
    where holdouts.holdout = 0 or calls.is_told
),

nearest as (
    select
        *,
        {{ nearest_known(
            {
                "seconds": "scheduled_seconds", "above_seconds": "above_seconds",
                "schedule_error_seconds": "schedule_error_seconds"
            },
            "is_told and not is_hidden"
        ) }}
    from held_out
    window
        {{ windows_around("departure_key, holdout", "scheduled_seconds, position") }}
),

neighbours as (
    select
        *,
        case when seconds_before is not null then greatest(scheduled_seconds - seconds_before, 0) end
            as gap_before_seconds,
        case when seconds_after is not null then greatest(seconds_after - scheduled_seconds, 0) end
            as gap_after_seconds
    from nearest
    where holdout = 0 or (is_evidenced and (holdout = 1 or is_hidden))
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
        + case
            when neighbours.above_seconds_before is null and neighbours.above_seconds_after is null and holdout = 0
                then cast(round(neighbours.wrong_share * neighbours.wrong_shift_seconds) as bigint)
            else 0
        end as told_delay_seconds,
        {{ told_by_neighbours("schedule_error_seconds") }} as told_schedule_error_seconds,
        -- of two gaps about the smaller one, of equal ones a half; where none is known, the way since the departure
        coalesce(
            neighbours.gap_before_seconds * neighbours.gap_after_seconds
            / nullif(cast(neighbours.gap_before_seconds + neighbours.gap_after_seconds as double), 0),
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
