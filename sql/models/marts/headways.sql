-- One row per operator, service_date, line, direction, stop and service_hour: intervals between buses, actual and
-- scheduled, as count, sum and sum of squares. Only intervals during which the stop was watched without a gap and no
-- bus can have passed unseen are counted, and beside each what was scheduled between the same two buses: a missed poll
-- never reads as a missed bus, nor a short wait seen as a long one saved.
-- Where many buses came that no known schedule tells of, the scheduled wait is not known either.
-- The waits follow from the sums (AWT = sum of squares / twice the sum) and do not add up; the sums do.
with listed as (
    select
        operator,
        service_date,
        line_code,
        direction,
        stop_code,
        position,
        trip_id,
        visit_number,
        service_hour,
        scheduled_at,
        passed_after,
        passed_at,
        passed_before,
        coalesce(passed_at, scheduled_at) as thought_at,
        arrival_quality in ('evidenced', 'bounded') as is_seen_gone,
        ruleset_version
    from {{ ref('stop_visits') }}
    where {{ is_built() }}
),

visits as (
    select *
    from listed
    where line_code is not null and position is not null
),

polls as (
    select
        operator,
        key as stop_code,
        request_id,
        received_at as polled_at,
        service_date
    from {{ ref('staging_requests') }}
    where endpoint = 'passages' and is_good and {{ is_received_around() }}
),

watches as (
    -- stretches of time a stop was polled without a long gap
    select
        operator,
        stop_code,
        min(polled_at) as watched_from,
        max(polled_at) as watched_to
    from (
        select
            *,
            sum(is_apart) over (
                partition by operator, stop_code order by polled_at, request_id
                rows between unbounded preceding and current row
            ) as stretch
        from (
            select
                polls.*,
                case
                    when
                        {{ seconds_between('lag(polls.polled_at) over stop_polls', 'polls.polled_at') }}
                        > rules.coverage_gap_seconds
                        then 1
                    else 0
                end as is_apart
            from polls
            {{ join_rules('polls.service_date') }}
            window stop_polls as (
                partition by polls.operator, polls.stop_code order by polls.polled_at, polls.request_id
            )
        ) as steps
    ) as stretches
    group by operator, stop_code, stretch
),

unlisted_departures as (
    -- departures whose trip this stop never listed are due there all the same, as long after as others of their leg
    select
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        departures.outcome,
        stops.stop_code,
        {{ add_seconds('departures.departure_at', 'stops.offset_seconds') }} as scheduled_at,
        cast(floor((departures.service_seconds + stops.offset_seconds) / 3600) as bigint) as service_hour
    from {{ ref('scheduled_departures') }} as departures
    inner join {{ ref('leg_stops') }} as stops
        on
            departures.operator = stops.operator
            and departures.service_date = stops.service_date
            and departures.line_code = stops.line_code
            and departures.direction = stops.direction
            and departures.leg = stops.leg
            and stops.offset_seconds is not null
    left join visits
        on
            departures.operator = visits.operator
            and departures.service_date = visits.service_date
            and departures.matched_trip_id = visits.trip_id
            and departures.line_code = visits.line_code
            and departures.direction = visits.direction
            and stops.position = visits.position
            and visits.scheduled_at is not null
    where
        departures.is_in_force
        and visits.trip_id is null
        and {{ is_built('departures.service_date') }}
),

hidden as (
    -- when buses may have passed that nobody knows to have: those not seen gone and those this stop never listed, about
    -- as late as buses are that count as on time; those of no clear line, which may be of any, and those that call
    -- where their line is not known to, which may be of either way
    select
        buses.operator,
        buses.stop_code,
        buses.line_code,
        buses.direction,
        case
            when buses.is_seen_gone then buses.thought_at
            else {{ add_seconds('buses.thought_at', 'rules.early_seconds') }}
        end as earliest_at,
        case
            when buses.is_seen_gone then buses.thought_at
            else {{ add_seconds('buses.thought_at', 'rules.late_seconds') }}
        end as latest_at
    from (
        select
            operator,
            service_date,
            stop_code,
            line_code,
            case when position is not null then direction end as direction,
            thought_at,
            is_seen_gone
        from listed
        where line_code is null or position is null or not is_seen_gone
        union all
        select
            operator,
            service_date,
            stop_code,
            line_code,
            direction,
            scheduled_at as thought_at,
            false as is_seen_gone
        from unlisted_departures
        where outcome != 'not_run'
    ) as buses
    {{ join_rules('buses.service_date') }}
),

due as (
    select
        operator,
        service_date,
        line_code,
        direction,
        stop_code,
        service_hour,
        scheduled_at,
        trip_id,
        visit_number
    from visits
    union all
    select
        operator,
        service_date,
        line_code,
        direction,
        stop_code,
        service_hour,
        scheduled_at,
        null as trip_id,
        null as visit_number
    from unlisted_departures
),

scheduled as (
    -- how many intervals were scheduled before each bus since the first of the day, their seconds and squares
    select
        *,
        sum(case when headway_seconds is not null then 1 else 0 end) over so_far as n_before,
        sum(coalesce(headway_seconds, 0)) over so_far as seconds_before,
        sum(coalesce(headway_seconds * headway_seconds, 0)) over so_far as squares_before
    from (
        select
            *,
            round({{ seconds_between('lag(scheduled_at) over next_bus', 'scheduled_at') }}) as headway_seconds
        from due
        where scheduled_at is not null
        window next_bus as (
            partition by operator, service_date, line_code, direction, stop_code
            order by scheduled_at, service_hour, trip_id, visit_number
        )
    ) as steps
    window so_far as (
        partition by operator, service_date, line_code, direction, stop_code
        order by scheduled_at, service_hour, trip_id, visit_number
        rows between unbounded preceding and current row
    )
),

timed as (
    -- and before all buses that have passed so far: late ones are overtaken
    select
        visits.*,
        max(scheduled.n_before) over so_far as n_before,
        max(scheduled.seconds_before) over so_far as seconds_before,
        max(scheduled.squares_before) over so_far as squares_before
    from visits
    left join scheduled
        on
            {{ is_same_visit('visits', 'scheduled') }}
    window so_far as (
        partition by visits.operator, visits.service_date, visits.line_code, visits.direction, visits.stop_code
        order by visits.thought_at, visits.scheduled_at, visits.trip_id, visits.visit_number
        rows between unbounded preceding and current row
    )
),

actual as (
    -- intervals between buses, and those that were scheduled between the same two
    select
        pairs.*,
        round({{ seconds_between('pairs.previous_passed_at', 'pairs.passed_at') }}) as headway_seconds
    from (
        select
            *,
            lag(passed_at) over next_bus as previous_passed_at,
            lag(passed_after) over next_bus as previous_passed_after,
            lag(is_seen_gone) over next_bus as is_previous_seen_gone,
            n_before - lag(n_before) over next_bus as n_scheduled,
            seconds_before - lag(seconds_before) over next_bus as scheduled_seconds,
            squares_before - lag(squares_before) over next_bus as scheduled_squares
        from timed
        window next_bus as (
            partition by operator, service_date, line_code, direction, stop_code
            order by thought_at, scheduled_at, trip_id, visit_number
        )
    ) as pairs
    where
        pairs.is_seen_gone
        and pairs.is_previous_seen_gone
        -- where no bus was due for more than an hour, service had stopped: nobody waits through the night
        and coalesce(pairs.scheduled_seconds <= 3600 * pairs.n_scheduled, true)
        and exists (
            select 1
            from watches
            where
                pairs.operator = watches.operator
                and pairs.stop_code = watches.stop_code
                and pairs.previous_passed_after >= watches.watched_from
                and pairs.passed_before <= watches.watched_to
        )
        and not exists (
            select 1
            from hidden
            where
                pairs.operator = hidden.operator
                and pairs.stop_code = hidden.stop_code
                and coalesce(hidden.line_code, pairs.line_code) = pairs.line_code
                and coalesce(hidden.direction, pairs.direction) = pairs.direction
                and hidden.earliest_at <= pairs.passed_at
                and hidden.latest_at >= pairs.previous_passed_at
        )
),

due_sums as (
    select
        operator,
        service_date,
        line_code,
        direction,
        stop_code,
        service_hour,
        count(scheduled_at) as n_scheduled_buses,
        count(*) - count(scheduled_at) as n_unscheduled_buses
    from due
    group by operator, service_date, line_code, direction, stop_code, service_hour
),

actual_sums as (
    select
        counted.operator,
        counted.service_date,
        counted.line_code,
        counted.direction,
        counted.stop_code,
        counted.service_hour,
        count(*) as n_actual,
        sum(counted.headway_seconds) as actual_seconds_sum,
        sum(counted.headway_seconds * counted.headway_seconds) as actual_seconds_squared_sum,
        max(counted.hour_n_scheduled) as n_scheduled,
        max(counted.hour_scheduled_seconds) as scheduled_seconds_sum,
        sum(counted.scheduled_squares) as scheduled_seconds_squared_sum,
        count(
            case
                when
                    counted.headway_seconds
                    <= rules.bunched_ratio * nullif(counted.hour_scheduled_seconds, 0) / counted.hour_n_scheduled then 1
            end
        ) as n_bunched,
        count(
            case
                when
                    counted.headway_seconds
                    >= rules.gap_ratio * nullif(counted.hour_scheduled_seconds, 0) / counted.hour_n_scheduled then 1
            end
        ) as n_gaps
    from (
        select
            *,
            sum(n_scheduled) over (
                partition by operator, service_date, line_code, direction, stop_code, service_hour
            ) as hour_n_scheduled,
            sum(scheduled_seconds) over (
                partition by operator, service_date, line_code, direction, stop_code, service_hour
            ) as hour_scheduled_seconds
        from actual
    ) as counted
    inner join {{ ref('rulesets') }} as rules
        on counted.ruleset_version = rules.ruleset_version
    group by
        counted.operator, counted.service_date, counted.line_code, counted.direction, counted.stop_code,
        counted.service_hour
),

sums as (
    select
        coalesce(due.operator, actual_sums.operator) as operator,
        coalesce(due.service_date, actual_sums.service_date) as service_date,
        coalesce(due.line_code, actual_sums.line_code) as line_code,
        coalesce(due.direction, actual_sums.direction) as direction,
        coalesce(due.stop_code, actual_sums.stop_code) as stop_code,
        coalesce(due.service_hour, actual_sums.service_hour) as service_hour,
        coalesce(due.n_scheduled_buses, 0) as n_scheduled_buses,
        coalesce(due.n_unscheduled_buses, 0) as n_unscheduled_buses,
        coalesce(actual_sums.n_actual, 0) as n_actual,
        cast(coalesce(actual_sums.actual_seconds_sum, 0) as bigint) as actual_seconds_sum,
        cast(coalesce(actual_sums.actual_seconds_squared_sum, 0) as bigint) as actual_seconds_squared_sum,
        cast(coalesce(actual_sums.n_scheduled, 0) as bigint) as n_scheduled,
        cast(coalesce(actual_sums.scheduled_seconds_sum, 0) as bigint) as scheduled_seconds_sum,
        cast(coalesce(actual_sums.scheduled_seconds_squared_sum, 0) as bigint) as scheduled_seconds_squared_sum,
        coalesce(actual_sums.n_bunched, 0) as n_bunched,
        coalesce(actual_sums.n_gaps, 0) as n_gaps
    from due_sums as due
    full outer join actual_sums
        on
            due.operator = actual_sums.operator
            and due.service_date = actual_sums.service_date
            and due.line_code = actual_sums.line_code
            and due.direction = actual_sums.direction
            and due.stop_code = actual_sums.stop_code
            and due.service_hour = actual_sums.service_hour
),

judged as (
    select
        sums.*,
        sums.n_scheduled_buses >= rules.frequent_per_hour as is_frequent,
        case
            when sums.n_scheduled_buses < rules.frequent_per_hour then 'not frequent'
            when sums.scheduled_seconds_sum = 0 then 'no watched schedule'
            when sums.n_unscheduled_buses > rules.unscheduled_share * sums.n_scheduled_buses then 'schedule incomplete'
            -- one long interval covers neither the hour nor the buses due in it
            when
                sums.actual_seconds_sum < rules.coverage_threshold * 3600
                or sums.n_scheduled < rules.coverage_threshold * sums.n_scheduled_buses
                then 'coverage under threshold'
        end as null_reason,
        rules.ruleset_version
    from sums
    {{ join_rules('sums.service_date') }}
)

select
    *,
    case
        when null_reason is null then cast(actual_seconds_squared_sum as double) / (2 * actual_seconds_sum)
    end as awt_seconds,
    case
        when null_reason is null then cast(scheduled_seconds_squared_sum as double) / (2 * scheduled_seconds_sum)
    end as swt_seconds,
    case
        when null_reason is null
            then
                cast(actual_seconds_squared_sum as double) / (2 * actual_seconds_sum)
                - cast(scheduled_seconds_squared_sum as double) / (2 * scheduled_seconds_sum)
    end as ewt_seconds
from judged
