-- One row per operator, service_date, trip, stop and visit: when it was due, when it passed, and how sure that is.
with evidence as (
    select
        visit_evidence.*,
        labels.line_code,
        labels.direction,
        stops.position,
        stops.stop_sequence
    from {{ ref('visit_evidence') }} as visit_evidence
    left join {{ ref('line_labels') }} as labels
        on
            visit_evidence.operator = labels.operator
            and visit_evidence.service_date = labels.service_date
            and visit_evidence.line_label = labels.line_label
            and visit_evidence.is_slash_variant is not distinct from labels.is_slash_variant
            and visit_evidence.destination is not distinct from labels.destination
            and visit_evidence.stop_code = labels.stop_code
    left join {{ ref('line_stops_of_day') }} as stops
        on
            labels.operator = stops.operator
            and labels.service_date = stops.service_date
            and labels.line_code = stops.line_code
            and labels.direction = stops.direction
            and labels.stop_code = stops.stop_code
            and stops.occurrence = least(visit_evidence.visit_number, stops.n_occurrences)
    where {{ is_built('visit_evidence.service_date') }}
),

scheduled as (
    select
        evidence.*,
        coalesce(evidence.theoretical_at, matches.departure_at) as scheduled_at,
        case
            when evidence.theoretical_at is not null then 'theoretical'
            when matches.departure_at is not null then 'timetable'
        end as schedule_source
    from evidence
    left join {{ ref('departure_matches') }} as matches
        on
            evidence.operator = matches.operator
            and evidence.service_date = matches.service_date
            and evidence.trip_id = matches.trip_id
            and evidence.line_code = matches.line_code
            and evidence.direction = matches.direction
            and evidence.position = 1
            and evidence.visit_number = 1
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
