-- One row per operator, service_date, trip, stop and visit: when it passed, by what was listed of it and of its trip at
-- the other stops.
with visits as (
    select * from {{ built('visit_trips') }}
),

disorders as (
    -- every pair of visits of a trip in which the bus was still to come at the earlier stop after it was gone at the
    -- later
    select
        earlier.listed_visit_key as earlier_key,
        later.listed_visit_key as later_key
    from visits as earlier
    inner join visits as later
        on
            earlier.trip_key = later.trip_key
            and earlier.position < later.position
            and earlier.passed_after > later.gone_at
),

misplaced as (
    -- the visit that is at odds with two others or more, which each are at odds with this one alone: the bus passed the
    -- stop a second time, as at the end of a loop
    select earlier_key as listed_visit_key
    from (
        select
            earlier_key,
            later_key,
            count(*) over (partition by earlier_key) as n_later,
            count(*) over (partition by later_key) as n_earlier
        from disorders
    ) as counted
    group by earlier_key
    having min(n_later) >= 2 and max(n_earlier) = 1
),

trip_facts as (
    -- a trip that was missing before its time at a stop, and was live nowhere later, may have lost its tracking: from
    -- then on its absence proves nothing
    select
        *,
        max(passed_after) over trip as tracked_until,
        max(missed_early_at) over trip >= max(passed_after) over trip
        or max(case when is_reverted then 1 else 0 end) over trip = 1 as is_trip_lost,
        -- the bus was still ahead of an earlier stop after it was gone here
        is_misplaced
        or coalesce(
            position is not null
            and gone_at < max(case when not is_misplaced then passed_after end) over earlier_stops,
            false
        ) as is_out_of_order
    from (
        select
            visits.*,
            misplaced.listed_visit_key is not null as is_misplaced
        from visits
        left join misplaced using (listed_visit_key)
    ) as placed
    window
        trip as (partition by trip_key),
        earlier_stops as (
            partition by trip_key order by position nulls last, expected_at, stop_code, visit_number
            rows between unbounded preceding and 1 preceding
        )
),

bounded as (
    select
        *,
        case
            when
                vanished_at is null
                and not is_reverted
                and not (coalesce(is_trip_lost, false) and gone_at > tracked_until)
                and not is_out_of_order
                then gone_at
        end as passed_before
    from trip_facts
),

timed as (
    select
        bounded.*,
        travel_times.travel_seconds,
        least(greatest(bounded.last_predicted_at, bounded.passed_after), bounded.passed_before) as clamped_at,
        case
            when bounded.n_polls = 0 then 'untracked'
            when bounded.passed_before is null then 'estimated'
            when seconds_between(bounded.passed_after, bounded.passed_before) <= rules.evidenced_seconds
                then 'evidenced'
            else 'bounded'
        end as arrival_quality
    from bounded
    {{ join_rules('bounded.service_date') }}
    left join {{ built('line_travel_times') }} as travel_times
        using (operator, service_date, line_code, direction, position)
),

between_stops as (
    -- the nearest stops before and after at which the trip was seen to pass: interpolated between them, the time is
    -- nearer the truth than by a prediction made minutes ahead
    select
        *,
        {{ nearest_known({"clamped": "clamped_at", "travel": "travel_seconds"}, "arrival_quality = 'evidenced'") }}
    from timed
    window
        {{ windows_around(
            "trip_key, line_code, direction", "position nulls last, expected_at, stop_code, visit_number"
        ) }}
)

select
    * {{ exclude(
        "expected_at, last_predicted_at, gone_at, vanished_at, missed_early_at, is_reverted, is_misplaced, is_trip_lost",
        "tracked_until, travel_seconds, travel_before, travel_after, clamped_at, clamped_before, clamped_after",
        "visit_number"
    ) }},
    row_number() over (
        partition by trip_key, stop_code
        order by expected_at, last_predicted_at nulls last, visit_number
    ) as visit_number,
    least(
        greatest(
            case
                when arrival_quality = 'evidenced' or position is null or last_predicted_at is null then clamped_at
                when travel_before < travel_seconds and travel_after > travel_seconds and clamped_after > clamped_before
                    then add_seconds(
                        clamped_before,
                        (travel_seconds - travel_before) / (travel_after - travel_before)
                        * seconds_between(clamped_before, clamped_after)
                    )
                -- extrapolated from one side only where its own bounds limit the error
                when passed_before is not null and travel_before < travel_seconds
                    then add_seconds(clamped_before, travel_seconds - travel_before)
                when passed_before is not null and travel_after > travel_seconds
                    then add_seconds(clamped_after, travel_seconds - travel_after)
                else clamped_at
            end,
            passed_after
        ),
        passed_before
    ) as passed_at,
    n_polls > 0 and (vanished_at is not null or is_reverted) as is_lost
from between_stops
