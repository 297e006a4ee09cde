-- One row per operator, service_date, trip, stop and visit: when it passed, by what was seen of it and of its trip at
-- the other stops.
with announced as (
    select
        evidence.*,
        trips.trip_id,
        trips.line_code,
        trips.direction,
        trips.position,
        trips.stop_sequence,
        trips.thought_at,
        trips.began_at,
        coalesce(evidence.theoretical_at, case when handovers.is_announced then handovers.replaced_at end)
            as announced_at,
        coalesce(handovers.is_announced, false) as is_announced,
        handovers.replaced_at as gave_way_at
    from {{ ref('visit_evidence') }} as evidence
    inner join {{ ref('visit_trips') }} as trips
        on
            {{ is_same_visit('evidence', 'trips', 'listed_id') }}
            and {{ is_built('trips.service_date') }}
    left join {{ ref('visit_handovers') }} as handovers
        on
            {{ is_same_visit('evidence', 'handovers', 'listed_id') }}
            and {{ is_built('handovers.service_date') }}
    where {{ is_built('evidence.service_date') }}
),

trips_lost as (
    -- a trip that was missing before its time somewhere, and was not seen live anywhere after, may have lost its
    -- tracking: from then on its absence proves nothing
    select
        *,
        max(passed_after) over trip as tracked_until,
        max(missed_early_at) over trip >= max(passed_after) over trip
        or max(case when is_reverted then 1 else 0 end) over trip = 1 as is_trip_lost,
        -- still ahead of an earlier stop: it cannot have passed this one before
        max(passed_after) over earlier_stops as earlier_after
    from announced
    window
        trip as (partition by operator, service_date, trip_id),
        earlier_stops as (
            partition by operator, service_date, trip_id order by position, thought_at, stop_code, visit_number
            rows between unbounded preceding and 1 preceding
        )
),

proven as (
    select
        *,
        coalesce(position is not null and gone_at < earlier_after, false) as is_out_of_order,
        case
            when
                vanished_at is null
                and not is_reverted
                and not (coalesce(is_trip_lost, false) and gone_at > tracked_until)
                and not coalesce(position is not null and gone_at < earlier_after, false)
                then gone_at
        end as passed_before
    from trips_lost
),

-- the nearest stops before and after at which the trip was seen to pass: a bus between them is where its pace puts it,
-- which is nearer the truth than a prediction made minutes ahead
timed as (
    select
        proven.*,
        paces.pace_seconds,
        least(greatest(proven.last_predicted_at, proven.passed_after), proven.passed_before) as told_at,
        coalesce(
            {{ seconds_between('proven.passed_after', 'proven.passed_before') }} <= rules.evidenced_seconds, false
        ) as is_evidenced
    from proven
    {{ join_rules('proven.service_date') }}
    left join {{ ref('line_paces') }} as paces
        on
            proven.operator = paces.operator
            and proven.service_date = paces.service_date
            and proven.line_code = paces.line_code
            and proven.direction = paces.direction
            and proven.position = paces.position
            and {{ is_built('paces.service_date') }}
),

between_stops as (
    select
        *,
        last_value(case when is_evidenced then told_at end ignore nulls) over before as before_at,
        last_value(case when is_evidenced then pace_seconds end ignore nulls) over before as before_pace,
        first_value(case when is_evidenced then told_at end ignore nulls) over after as after_at,
        first_value(case when is_evidenced then pace_seconds end ignore nulls) over after as after_pace
    from timed
    window
        before as (
            partition by operator, service_date, trip_id, line_code, direction
            order by position, thought_at, stop_code, visit_number
            rows between unbounded preceding and 1 preceding
        ),
        after as (
            partition by operator, service_date, trip_id, line_code, direction
            order by position, thought_at, stop_code, visit_number
            rows between 1 following and unbounded following
        )
),

passed as (
    select
        *,
        case
            when is_evidenced or position is null or last_predicted_at is null then told_at
            when before_pace < pace_seconds and after_pace > pace_seconds and after_at > before_at
                then {{ add_seconds(
                    'before_at',
                    '(pace_seconds - before_pace) / (after_pace - before_pace) * '
                    ~ seconds_between('before_at', 'after_at')
                ) }}
            -- from one side alone only where its own bounds keep it in place
            when passed_before is not null and before_pace < pace_seconds
                then {{ add_seconds('before_at', '(pace_seconds - before_pace)') }}
            when passed_before is not null and after_pace > pace_seconds
                then {{ add_seconds('after_at', '(pace_seconds - after_pace)') }}
            else told_at
        end as likely_at
    from between_stops
)

select
    operator,
    service_date,
    trip_id,
    stop_code,
    row_number() over (
        partition by operator, service_date, trip_id, stop_code
        order by thought_at, last_predicted_at, visit_number
    ) as visit_number,
    listed_id,
    line_code,
    direction,
    position,
    stop_sequence,
    line_label,
    is_slash_variant,
    destination,
    service_hour,
    announced_at as theoretical_at,
    gave_way_at as replaced_at,
    last_predicted_at,
    passed_after,
    passed_before,
    least(greatest(likely_at, passed_after), passed_before) as passed_at,
    began_at,
    first_seen_at,
    last_seen_at,
    first_live_at,
    last_theoretical_at,
    n_polls,
    n_full_polls,
    n_theoretical_polls,
    n_withdrawn_polls,
    withdrawn_at,
    listed_id like '@%' as is_stand_in,
    is_out_of_order,
    n_polls > 0 and (vanished_at is not null or is_reverted) as is_lost
from passed
where
    -- a row that gave way to a bus is told by the bus
    not exists (
        select 1
        from announced as buses
        where
            buses.is_announced
            and passed.listed_id like '@%'
            and passed.operator = buses.operator
            and passed.service_date = buses.service_date
            and passed.stop_code = buses.stop_code
            and passed.line_code = buses.line_code
            and passed.direction = buses.direction
            and passed.theoretical_at = buses.gave_way_at
    )
