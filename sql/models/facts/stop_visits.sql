{{ config(schema='core') }}
-- One row per operator, service_date, trip, stop and visit: when it was due, when it passed, and how certain that is.
with scheduled as (
    -- by its own timetable time, or else that of its departure, if it is sure enough
    select
        calls.*,
        coalesce(calls.timetable_at, times.scheduled_at) as scheduled_at,
        cast(floor(
            seconds_between(days.zero_at, coalesce(calls.timetable_at, times.scheduled_at)) / 3600
        ) as bigint) as due_hour,
        coalesce(calls.schedule_source, times.schedule_source) as known_schedule_source
    from {{ built('trip_calls') }} as calls
    cross join {{ ref('inference_parameters') }} as parameters
    left join {{ built('service_days') }} as days using (operator, service_date)
    left join {{ built('scheduled_calls') }} as times
        on calls.visit_key = times.visit_key and times.error_seconds <= parameters.timed_error_seconds
),

delayed as (
    select
        *,
        cast(round(seconds_between(scheduled_at, passed_at)) as bigint) as delay_seconds,
        cast(floor(seconds_between(scheduled_at, passed_after)) as bigint) as delay_low_seconds,
        cast(ceil(seconds_between(scheduled_at, passed_before)) as bigint) as delay_high_seconds
    from scheduled
    {{ join_rules('service_date') }}
)

select
    visit_key,
    trip_key,
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
    -- the hour it was due in, or else the hour it was listed for
    coalesce(due_hour, service_hour) as service_hour,
    scheduled_at,
    known_schedule_source as schedule_source,
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
    -- the same by the point estimate, for shares: those of visits decided by their bounds are biased, as near a
    -- threshold more visits lie on one side than on the other. Only for observed passages: without one a visit can be
    -- known to be late, but never to be on time
    case
        when arrival_quality not in ('evidenced', 'bounded') then null
        when delay_seconds < early_seconds then 'early'
        when delay_seconds > late_seconds then 'late'
        when delay_seconds is not null then 'on_time'
    end as punctuality_point,
    case when n_polls > 0 then cast(n_full_polls as double) / n_polls end as is_full_share,
    n_polls,
    n_theoretical_polls,
    n_withdrawn_polls,
    withdrawn_at,
    is_out_of_order,
    is_lost,
    first_seen_at,
    last_seen_at,
    ruleset_version
from delayed
