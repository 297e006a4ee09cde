-- One row per due call of a departure that is not known not to have run: what bounds its passage, when the bus is
-- thought to have passed and how late, and how uncertain that is. Whether that is early, on time or late is for a
-- ruleset to say (the macro passage_verdicts).
with calls as (
    select
        calls.*,
        coalesce(arrival_quality in ('evidenced', 'bounded'), false) as is_seen,
        {{ is_observed_call() }} as is_observed,
        -- by the timetable the stop comes after a later one of the list, or before an earlier one
        greatest(
            (max(scheduled_seconds - 2 * schedule_error_seconds) over earlier_stops) - scheduled_seconds,
            scheduled_seconds - (min(scheduled_seconds + 2 * schedule_error_seconds) over later_stops)
        ) > 2 * schedule_error_seconds as is_misplaced,
        max(case when arrival_quality is not null then passed_after end) over earlier_stops as trip_after,
        min(case when arrival_quality is not null then passed_before end) over later_stops as trip_before,
        count(case when arrival_quality = 'evidenced' then 1 end) over earlier_stops as n_evidenced_before,
        {{ n_distinct_over(
            "case when arrival_quality = 'evidenced' then departure_key end",
            "partition by calls.operator, calls.service_date, calls.service_hour"
        ) }} as n_observed_trips_of_hour
    from {{ built('due_calls') }} as calls
    inner join {{ running_departures() }} as departures using (departure_key)
    window
        earlier_stops as (
            partition by departure_key order by position rows between unbounded preceding and current row
        ),
        later_stops as (
            partition by departure_key order by position rows between current row and unbounded following
        )
),

bounded as (
    select
        calls.*,
        case
            when not is_guessed
                then coalesce(case when is_seen then passed_after end, case when is_in_order then trip_after end)
        end as hard_after,
        case
            when not is_guessed
                then coalesce(case when is_seen then passed_before end, case when is_in_order then trip_before end)
        end as hard_before
    from (
        select
            *,
            -- a bus passes its stops in the order of the list, unless the timetable of most of its leg says otherwise
            coalesce(trip_after < trip_before, true)
            and 2 * count(case when is_misplaced then 1 end) over leg_stop <= count(*) over leg_stop as is_in_order
        from calls
        window leg_stop as (partition by operator, service_date, line_code, direction, leg, position)
    ) as calls
),

told as (
    select
        bounded.*,
        expected.side,
        expected.shape_class,
        expected.expected_seconds as told_seconds,
        expected.unseen_factor * expected.error_seconds as told_error_seconds,
        -- of trips of which nothing was seen a few are far from what is expected, and nearly all of these are late: so
        -- the delay is less sure, but not the verdict
        case when expected.side like 'none%' then parameters.unseen_spread_factor else 1 end as spread_factor,
        expected.told_schedule_error_seconds,
        usual.usual_error_seconds,
        -- of a trip of which nothing is known, what is usual on its line is all there is
        case when expected.side like 'none%' then usual.usual_line_error_seconds else 0 end as usual_line_error_seconds,
        seconds_between(bounded.scheduled_at, bounded.hard_after) as after_seconds,
        -- an answer that did not list a bus which was still to come tells nothing
        least(
            seconds_between(bounded.scheduled_at, bounded.hard_before),
            case
                when coalesce(bounded.hard_after < unlisted.unlisted_at, true)
                    then seconds_between(bounded.scheduled_at, unlisted.unlisted_at)
            end
        ) as before_seconds
    from bounded
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ built('expected_delays') }} as expected using (operator, service_date, departure_key, position)
    inner join {{ built('usual_delays') }} as usual using (operator, service_date, departure_key, position)
    left join {{ ref('unlisted_passages') }} as unlisted using (operator, service_date, departure_key, position)
    where expected.holdout = 0
),

guessed as (
    select
        *,
        case
            -- of a trip without an evidenced passage only the listings of the stop tell
            when is_observed and (arrival_quality = 'evidenced' or side like 'none%') then delay_seconds
            -- the listings of the stop and the rest of the trip are about as exact, and wrong independently
            when is_observed
                then (delay_seconds + least(greatest(told_seconds, after_seconds), before_seconds)) / 2
            -- seen, but with an unsure schedule: what was seen and what the rest of the trip tells, by their precision
            when is_seen and not is_guessed
                then
                    (
                        delay_seconds * power(told_error_seconds, 2)
                        + told_seconds * power(schedule_error_seconds, 2)
                    ) / (power(schedule_error_seconds, 2) + power(told_error_seconds, 2))
            else told_seconds
        end as guessed_seconds,
        {{ rounded(
            truncated_mean("told_seconds", "told_error_seconds", "after_seconds", "before_seconds"), 1
        ) }} as placed_seconds,
        case
            when is_observed
                then
                    sqrt(
                        power(least(
                            greatest(seconds_between(passed_after, passed_before) / 6, 1),
                            case when arrival_quality = 'bounded' then told_error_seconds end
                        ), 2)
                        + power(schedule_error_seconds, 2)
                    )
            when is_seen and not is_guessed
                then
                    schedule_error_seconds * told_error_seconds
                    / sqrt(power(schedule_error_seconds, 2) + power(told_error_seconds, 2))
            -- the delay that the rest of the trip tells does not depend on the scheduled time here
            else sqrt(power(spread_factor * told_error_seconds, 2) + power(match_error_seconds, 2))
        end as error_seconds,
        -- the part of the error that all passages of the line at the stop have in common
        case
            when is_seen and not is_guessed then schedule_error_seconds
            else
                sqrt(
                    power(told_schedule_error_seconds, 2) + power(usual_error_seconds, 2)
                    + power(usual_line_error_seconds, 2) + power(match_line_error_seconds, 2)
                )
        end as stop_error_seconds,
        case when is_timed then after_seconds end as low_seconds,
        case when is_timed then before_seconds end as high_seconds
    from told
),

placed as (
    select
        *,
        case
            when is_observed and arrival_quality = 'bounded' then add_seconds(scheduled_at, guessed_seconds)
            when is_seen then passed_at
            else add_seconds(scheduled_at, placed_seconds)
        end as guessed_at
    from guessed
),

least_delays as (
    -- what the earliest buses pass by, at first stops and at all: one ahead of its time waits at its first stop. Where
    -- it waits at each stop, there are hardly any early ones
    select
        operator,
        service_date,
        case
            when count(case when is_first_stop then 1 end) * max(parameters.earliest_first_stop_share) >= 1
                then
                    min(
                        case
                            when is_first_stop and share_of_first_stops >= parameters.earliest_first_stop_share
                                then delay_seconds
                        end
                    )
        end as first_stop_seconds,
        case
            when count(*) * max(parameters.earliest_share) >= 1
                then min(case when share_of_all >= parameters.earliest_share then delay_seconds end)
        end as stop_seconds
    from (
        select
            *,
            cume_dist() over (partition by operator, service_date, is_first_stop order by delay_seconds)
                as share_of_first_stops,
            cume_dist() over (partition by operator, service_date order by delay_seconds) as share_of_all
        from calls
        where is_observed and arrival_quality = 'evidenced' and schedule_error_seconds = 0
    ) as evidenced
    cross join {{ ref('inference_parameters') }} as parameters
    group by operator, service_date
)

select
    placed.* {{ exclude(
        "match_error_seconds, match_line_error_seconds, is_timed, is_told, zero_at, scheduled_seconds, running_seconds",
        "passed_after, passed_before, delay_seconds, trip_after, trip_before, is_in_order, is_misplaced, told_seconds",
        "spread_factor",
        "told_schedule_error_seconds, usual_error_seconds, usual_line_error_seconds, after_seconds, before_seconds",
        "placed_seconds, guessed_at, passed_at, told_error_seconds, wrong_share, stop_error_seconds"
    ) }},
    least(greatest(placed.guessed_at, placed.hard_after), placed.hard_before) as passed_at,
    case when not placed.is_seen or placed.is_guessed then placed.told_error_seconds end as told_error_seconds,
    case when not placed.is_seen or placed.is_guessed then placed.wrong_share else 0 end as wrong_share,
    least(placed.stop_error_seconds, placed.error_seconds) as stop_error_seconds,
    case when not placed.is_seen or placed.is_guessed then placed.match_line_error_seconds else 0 end
        as line_error_seconds,
    greatest(
        case when placed.is_first_stop then least_delays.first_stop_seconds end,
        least_delays.stop_seconds
    ) as least_seconds,
    case
        when placed.is_seen or not placed.is_timed
            then least(greatest(placed.guessed_seconds, placed.low_seconds), placed.high_seconds)
        else placed.placed_seconds
    end as expected_seconds
from placed
left join least_delays using (operator, service_date)
