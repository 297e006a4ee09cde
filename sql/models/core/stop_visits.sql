-- One row per operator, service_date, trip, stop and visit: when it was due, when it passed, and how sure that is.
with evidence as (
    select
        visit_evidence.*,
        lines.line_code,
        lines.direction,
        lines.position,
        lines.stop_sequence
    from {{ ref('visit_evidence') }} as visit_evidence
    inner join {{ ref('visit_lines') }} as lines
        on
            visit_evidence.operator = lines.operator
            and visit_evidence.service_date = lines.service_date
            and visit_evidence.trip_id = lines.trip_id
            and visit_evidence.stop_code = lines.stop_code
            and visit_evidence.visit_number = lines.visit_number
    where {{ is_built('visit_evidence.service_date') }}
),

patterns as (
    -- when the trip's matched departure is due at the stop by the running times of its hour, or else of the day
    select
        evidence.operator,
        evidence.service_date,
        evidence.trip_id,
        evidence.stop_code,
        evidence.visit_number,
        matches.departure_at,
        coalesce(of_hour.offset_seconds, of_day.offset_seconds) as offset_seconds
    from evidence
    inner join {{ ref('departure_matches') }} as matches
        on
            evidence.operator = matches.operator
            and evidence.service_date = matches.service_date
            and evidence.trip_id = matches.trip_id
            and evidence.line_code = matches.line_code
            and evidence.direction = matches.direction
            and matches.basis != 'short_run'
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
            and evidence.position = of_hour.position
            and departures.service_hour = of_hour.service_hour
    left join {{ ref('running_times') }} as of_day
        on
            evidence.operator = of_day.operator
            and evidence.service_date = of_day.service_date
            and evidence.line_code = of_day.line_code
            and evidence.direction = of_day.direction
            and evidence.position = of_day.position
            and of_day.service_hour is null
),

scheduled as (
    select
        evidence.*,
        coalesce(
            evidence.theoretical_at,
            case when evidence.position = 1 then patterns.departure_at end,
            {{ add_seconds('patterns.departure_at', 'patterns.offset_seconds') }}
        ) as scheduled_at,
        case
            when evidence.theoretical_at is not null then 'theoretical'
            when evidence.position = 1 and patterns.departure_at is not null then 'timetable'
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
    case when n_polls > 0 then cast(n_full_polls as double) / n_polls end as is_full_share,
    n_polls,
    n_theoretical_polls,
    is_lost,
    first_seen_at,
    last_seen_at,
    ruleset_version
from delayed
