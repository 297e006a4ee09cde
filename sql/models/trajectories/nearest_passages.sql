-- One row per due call, and per evidenced passage and hold-out that hides it: the nearest passages of its trip, before
-- and after, whose scheduled times are known well enough to tell of it, and how far away in the timetable they are.
-- A hold-out hides a part of what was observed, so that what the rest tells of it can be compared with what was
-- observed: 1 each passage alone, 2 a half in periods, 3 all after and 4 all before a moment of the trip, 5 the whole
-- trip. Hold-out 0 hides nothing.
with calls as (
    select
        *,
        -- only these show how wrong a guess is
        coalesce(arrival_quality = 'evidenced', false) and is_timed as is_evidenced
    from {{ built('due_calls') }}
),

trips as (
    select
        operator,
        service_date,
        line_code,
        direction,
        departure_key,
        min(scheduled_seconds) as begins_seconds,
        count(*) as n_calls,
        count(case when is_evidenced then 1 end) as n_evidenced,
        min(case when is_evidenced then scheduled_seconds end)
        + chance(concat_ws('|', departure_key)) * (
            max(case when is_evidenced then scheduled_seconds end)
            - min(case when is_evidenced then scheduled_seconds end)
        ) as moment_seconds
    from calls
    group by operator, service_date, line_code, direction, departure_key
),

weighted_trips as (
    select
        departure_key,
        moment_seconds,
        -- its evidenced passages stand for all of the trip: otherwise what is learned would be true of quiet hours and
        -- long trips, of which most is observed. On average 100, and whole, so that sums do not depend on the order
        cast(round(
            100e0 * n_calls / nullif(n_evidenced, 0)
            * (sum(n_evidenced) over (partition by operator, service_date))
            / (sum(case when n_evidenced > 0 then n_calls end) over (partition by operator, service_date))
        ) as bigint) as weight,
        -- to the nearest other trip of the line of which passages are evidenced
        least(
            begins_seconds - (max(case when n_evidenced > 0 then begins_seconds end) over before),
            (min(case when n_evidenced > 0 then begins_seconds end) over after) - begins_seconds
        ) as line_gap_seconds
    from trips
    window
        {{ windows_around("operator, service_date, line_code, direction", "begins_seconds, departure_key") }}
),

held_out as (
    select
        calls.*,
        trips.line_gap_seconds,
        trips.weight,
        holdouts.holdout,
        case holdouts.holdout
            when 2
                then
                    chance(
                        concat_ws(
                            '|', calls.departure_key,
                            {{ quotient('calls.scheduled_seconds', 'parameters.holdout_period_seconds') }}
                        )
                    ) < 0.5
            when 3 then calls.scheduled_seconds > trips.moment_seconds
            when 4 then calls.scheduled_seconds < trips.moment_seconds
            when 5 then true
            else false
        end as is_hidden
    from calls
    inner join weighted_trips as trips using (departure_key)
    cross join (values (0), (1), (2), (3), (4), (5)) as holdouts (holdout)
    cross join {{ ref('inference_parameters') }} as parameters
    where holdouts.holdout = 0 or calls.is_told
),

nearest as (
    select
        *,
        {{ nearest_known(
            {
                "position": "position", "seconds": "scheduled_seconds", "delay_seconds": "delay_seconds",
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
)

select
    departure_key,
    operator,
    service_date,
    line_code,
    direction,
    position,
    holdout,
    weight,
    delay_seconds,
    case
        when seconds_before is null and seconds_after is null
            then case when is_first_stop then 'none_at_first_stop' else 'none' end
        when is_first_stop then 'first_stop'
        when seconds_before is null then 'before'
        when seconds_after is null then 'after'
        else 'between'
    end as side,
    position_before,
    position_after,
    delay_seconds_before,
    delay_seconds_after,
    gap_before_seconds,
    gap_after_seconds,
    {{ told_by_neighbours("schedule_error_seconds") }} as told_schedule_error_seconds,
    case
        when seconds_before is null and seconds_after is null and holdout = 0
            then cast(round(wrong_share * wrong_shift_seconds) as bigint)
        else 0
    end as wrong_match_seconds,
    -- in powers of two: of two gaps about the smaller one, of equal ones a half; of a trip of which nothing is known
    -- the gap to the nearest observed trip of its line, because what delays one may delay the next; a day without one
    least(
        cast(floor(ln(greatest(
            coalesce(
                gap_before_seconds * gap_after_seconds
                / nullif(cast(gap_before_seconds + gap_after_seconds as double), 0),
                gap_before_seconds,
                gap_after_seconds,
                line_gap_seconds,
                86400
            ),
            parameters.shortest_gap_seconds
        ) / parameters.shortest_gap_seconds) / ln(2)) as bigint),
        7
    ) as gap_class
from neighbours
cross join {{ ref('inference_parameters') }} as parameters
