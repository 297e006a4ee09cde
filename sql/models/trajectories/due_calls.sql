-- One row per departure in force that may have run, and position of its leg, once it is due: when its bus was due
-- there, and what was observed of it.
with scheduled as (
    select
        calls.*,
        cast(round(calls.departure_seconds + times.running_seconds) as bigint) as scheduled_seconds,
        case
            when calls.schedule_source in ('theoretical', 'timetable') then 0
            -- the travel times are of the same timetable rows as the errors: where there are none they are less sure
            when times.basis = 'travel'
                then greatest(errors.error_seconds, parameters.match_travel_share * times.gap_seconds)
            else errors.error_seconds
        end as error_seconds
    from {{ built('scheduled_calls') }} as calls
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ built('call_times') }} as times using (operator, service_date, departure_key, position)
    inner join {{ built('schedule_errors') }} as errors
        on
            times.operator = errors.operator
            and times.service_date = errors.service_date
            and case times.basis when 'own' then 'agreed' else times.basis end = errors.basis
            and {{ schedule_gap_class('times.gap_seconds') }} = errors.gap_class
    where times.holdout = 0
),

delayed as (
    select
        *,
        cast(round({{ seconds_between('zero_at', 'passed_at') }}) as bigint) - scheduled_seconds as delay_seconds,
        case
            when arrival_quality in ('evidenced', 'bounded') and not is_out_of_order
                then {{ seconds_between('zero_at', 'passed_at') }} - scheduled_seconds
        end as observed_seconds,
        coalesce(schedule_source in ('theoretical', 'timetable'), false) as is_listed,
        departure_seconds // 10800 as part_of_day
    from scheduled
),

compared as (
    select
        *,
        cast(floor(scheduled_seconds / 3600) as bigint) as service_hour,
        count(*) over (
            partition by operator, service_date, line_code, direction, stop_code, floor(scheduled_seconds / 3600)
        ) as n_buses_of_hour,
        median(case when not is_listed then observed_seconds end) over (
            partition by operator, service_date, line_code, direction, leg, part_of_day, position
        ) as stop_seconds,
        median(case when is_listed then observed_seconds end) over (
            partition by operator, service_date, line_code, direction, leg, part_of_day
        ) as leg_seconds
    from delayed
),

judged as (
    -- where all buses of the leg seem to be far later or earlier than where their time is listed, the schedule may be
    -- wrong by as much
    select
        compared.*,
        case
            when not is_listed and abs(stop_seconds - leg_seconds) > parameters.schedule_jump_seconds
                then greatest(error_seconds, abs(stop_seconds - leg_seconds) / 2)
            else error_seconds
        end as schedule_error_seconds
    from compared
    cross join {{ ref('inference_parameters') }} as parameters
)

select
    scheduled.departure_key,
    scheduled.operator,
    scheduled.service_date,
    scheduled.line_code,
    scheduled.direction,
    scheduled.leg,
    scheduled.departure_at,
    scheduled.position,
    scheduled.stop_code,
    scheduled.is_first_stop,
    scheduled.is_last_stop,
    scheduled.service_hour,
    scheduled.n_buses_of_hour,
    scheduled.trip_key,
    scheduled.match_score,
    scheduled.is_guessed,
    scheduled.match_error_seconds,
    scheduled.visit_key,
    {{ add_seconds('scheduled.zero_at', 'scheduled.scheduled_seconds') }} as scheduled_at,
    coalesce(scheduled.schedule_source, 'running_time') as schedule_source,
    scheduled.schedule_error_seconds,
    scheduled.schedule_error_seconds <= parameters.timed_error_seconds as is_timed,
    -- a passage whose scheduled time is less sure tells of its trip too
    coalesce(scheduled.arrival_quality = 'evidenced' and not scheduled.is_out_of_order, false)
    and scheduled.schedule_error_seconds <= parameters.told_error_seconds as is_told,
    scheduled.zero_at,
    scheduled.scheduled_seconds,
    scheduled.scheduled_seconds - scheduled.departure_seconds as running_seconds,
    scheduled.passed_at,
    scheduled.passed_after,
    scheduled.passed_before,
    case when not scheduled.is_out_of_order then scheduled.arrival_quality end as arrival_quality,
    scheduled.delay_seconds,
    scheduled.ruleset_version
from judged as scheduled
cross join {{ ref('inference_parameters') }} as parameters
inner join {{ last_answers() }} as last_answers using (operator)
where {{ add_seconds('scheduled.zero_at', 'scheduled.scheduled_seconds') }} <= last_answers.last_received_at
