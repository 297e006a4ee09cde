-- One row per operator, service_date, trip, stop and visit: when it was due, when it passed, and how sure that is.
with stand_ins as (
    -- timetable rows without an id, and the trip that runs as their departure
    select
        stand_ins.*,
        matches.trip_id as matched_trip_id
    from {{ ref('stand_in_departures') }} as stand_ins
    left join (
        select
            matches.*,
            row_number() over (
                partition by operator, service_date, line_code, direction, leg, departure_at
                order by match_score desc, trip_id
            ) as nth
        from {{ ref('departure_matches') }} as matches
    ) as matches
        on
            stand_ins.operator = matches.operator
            and stand_ins.service_date = matches.service_date
            and stand_ins.line_code = matches.line_code
            and stand_ins.direction = matches.direction
            and stand_ins.leg = matches.leg
            and stand_ins.departure_at = matches.departure_at
            and matches.nth = 1
    where {{ is_built('stand_ins.service_date') }}
),

known as (
    -- a bus takes over the timetable time that its stop showed without an id; the rest are calls nobody saw
    select
        runs.operator,
        runs.service_date,
        case
            when stand_ins.departure_at is null then runs.trip_id
            when stand_ins.matched_trip_id is not null then stand_ins.matched_trip_id
            else
                '@' || stand_ins.line_code || '@' || stand_ins.direction || '@' || stand_ins.leg || '@'
                || cast(stand_ins.departure_at as varchar)
        end as trip_id,
        case when not runs.is_stand_in then runs.listed_id end as listed_trip_id,
        runs.is_stand_in,
        runs.visit_number,
        runs.theoretical_at,
        runs.stop_code,
        runs.line_code,
        runs.direction,
        runs.position,
        runs.stop_sequence,
        runs.line_label,
        runs.is_slash_variant,
        runs.destination,
        runs.service_hour,
        runs.passed_after,
        runs.passed_before,
        runs.passed_at,
        runs.n_polls,
        runs.n_full_polls,
        runs.n_theoretical_polls,
        runs.n_withdrawn_polls,
        runs.first_seen_at,
        runs.last_seen_at,
        runs.is_lost,
        runs.is_out_of_order,
        case when runs.is_stand_in then stand_ins.departure_at end as stand_in_departure_at
    from {{ ref('visit_runs') }} as runs
    left join stand_ins
        on
            runs.operator = stand_ins.operator
            and runs.service_date = stand_ins.service_date
            and runs.trip_id = stand_ins.trip_id
            and runs.stop_code = stand_ins.stop_code
            and runs.visit_number = stand_ins.visit_number
    where {{ is_built('runs.service_date') }}
),

shared as (
    select
        *,
        max(case when is_stand_in then theoretical_at end) over one_call as announced_at,
        row_number() over one_call as nth
    from known
    window one_call as (
        partition by
            operator, service_date, trip_id, line_code, direction, position,
            case when stand_in_departure_at is null and is_stand_in then stop_code end
        order by is_stand_in, visit_number, theoretical_at
        rows between unbounded preceding and unbounded following
    )
),

evidence as (
    select
        operator,
        service_date,
        trip_id,
        listed_trip_id,
        stop_code,
        line_code,
        direction,
        position,
        stop_sequence,
        line_label,
        is_slash_variant,
        destination,
        service_hour,
        passed_after,
        passed_before,
        passed_at,
        n_polls,
        n_full_polls,
        n_theoretical_polls,
        n_withdrawn_polls,
        first_seen_at,
        last_seen_at,
        is_lost,
        is_out_of_order,
        coalesce(theoretical_at, announced_at) as theoretical_at,
        row_number() over (
            partition by operator, service_date, trip_id, stop_code
            order by coalesce(theoretical_at, announced_at, passed_at), visit_number
        ) as visit_number
    from shared
    where nth = 1 or not is_stand_in
),

patterns as (
    -- when the trip's matched departure is due at the stop by the running times of its hour, or else of the day,
    -- if the day's were learned from earlier and later trips alike
    select
        evidence.operator,
        evidence.service_date,
        evidence.trip_id,
        evidence.stop_code,
        evidence.visit_number,
        matches.departure_at,
        matches.origin_position,
        coalesce(of_hour.offset_seconds, of_day.offset_seconds) as offset_seconds
    from evidence
    inner join {{ ref('departure_matches') }} as matches
        on
            evidence.operator = matches.operator
            and evidence.service_date = matches.service_date
            and evidence.trip_id = matches.trip_id
            and evidence.line_code = matches.line_code
            and evidence.direction = matches.direction
    left join {{ ref('timetable_departures') }} as departures
        on
            matches.operator = departures.operator
            and matches.service_date = departures.service_date
            and matches.line_code = departures.line_code
            and matches.direction = departures.direction
            and matches.service_code is not distinct from departures.service_code
            and matches.departure_at = departures.departure_at
            and matches.duplicate_number = departures.duplicate_number
            and matches.departure_valid_from = departures.valid_from
    left join {{ ref('running_times') }} as of_hour
        on
            evidence.operator = of_hour.operator
            and evidence.service_date = of_hour.service_date
            and evidence.line_code = of_hour.line_code
            and evidence.direction = of_hour.direction
            and matches.leg = of_hour.leg
            and evidence.position = of_hour.position
            and departures.service_hour = of_hour.service_hour
    left join {{ ref('running_times') }} as of_day
        on
            evidence.operator = of_day.operator
            and evidence.service_date = of_day.service_date
            and evidence.line_code = of_day.line_code
            and evidence.direction = of_day.direction
            and matches.leg = of_day.leg
            and evidence.position = of_day.position
            and of_day.service_hour is null
            and departures.service_hour between of_day.first_hour and of_day.last_hour
),

scheduled as (
    select
        evidence.*,
        coalesce(
            evidence.theoretical_at,
            case when evidence.position = patterns.origin_position then patterns.departure_at end,
            {{ add_seconds('patterns.departure_at', 'patterns.offset_seconds') }}
        ) as scheduled_at,
        case
            when evidence.theoretical_at is not null then 'theoretical'
            when evidence.position = patterns.origin_position then 'timetable'
            when patterns.offset_seconds is not null then 'pattern'
        end as schedule_source
    from evidence
    left join patterns
        on
            evidence.operator = patterns.operator
            and evidence.service_date = patterns.service_date
            and evidence.trip_id = patterns.trip_id
            and evidence.stop_code = patterns.stop_code
            and evidence.visit_number = patterns.visit_number
),

passed as (
    select
        *,
        case
            when n_polls = 0 then 'untracked'
            when passed_before is null then 'estimated'
            when {{ seconds_between('passed_after', 'passed_before') }} <= evidenced_seconds then 'evidenced'
            else 'bounded'
        end as arrival_quality
    from scheduled
    {{ join_rules('service_date') }}
),

delayed as (
    select
        *,
        cast(round({{ seconds_between('scheduled_at', 'passed_at') }}) as bigint) as delay_seconds,
        cast(floor({{ seconds_between('scheduled_at', 'passed_after') }}) as bigint) as delay_low_seconds,
        cast(ceil({{ seconds_between('scheduled_at', 'passed_before') }}) as bigint) as delay_high_seconds
    from passed
)

select
    operator,
    service_date,
    trip_id,
    listed_trip_id,
    stop_code,
    visit_number,
    line_code,
    line_label,
    is_slash_variant,
    direction,
    stop_sequence,
    position,
    destination,
    service_hour,
    scheduled_at,
    schedule_source,
    passed_at,
    passed_after,
    passed_before,
    arrival_quality,
    delay_seconds,
    delay_low_seconds,
    delay_high_seconds,
    case
        when scheduled_at is null then 'unscheduled'
        when delay_high_seconds < early_seconds then 'early'
        when delay_low_seconds > late_seconds then 'late'
        when delay_low_seconds >= early_seconds and delay_high_seconds <= late_seconds then 'on_time'
        else 'indeterminate'
    end as punctuality,
    -- the same by the point alone, for shares that leave nobody out whose bounds straddle a threshold; a bus that was
    -- not seen gone has but a prediction, and those made long before are too early on the whole
    case
        when delay_high_seconds < early_seconds then 'early'
        when delay_low_seconds > late_seconds then 'late'
        when arrival_quality not in ('evidenced', 'bounded') then null
        when delay_seconds < early_seconds then 'early'
        when delay_seconds > late_seconds then 'late'
        when delay_seconds is not null then 'on_time'
    end as punctuality_point,
    case when n_polls > 0 then cast(n_full_polls as double) / n_polls end as is_full_share,
    n_polls,
    n_theoretical_polls,
    n_withdrawn_polls,
    is_out_of_order,
    is_lost,
    first_seen_at,
    last_seen_at,
    ruleset_version
from delayed
