-- One row per departure in force and position of its leg: when its bus is due there, where that is known from, and with
-- what standard error. All other tables have their scheduled times from here.
select
    calls.departure_key,
    calls.operator,
    calls.service_date,
    calls.line_code,
    calls.direction,
    calls.leg,
    calls.departure_at,
    calls.zero_at,
    calls.departure_seconds,
    calls.position,
    calls.stop_code,
    calls.is_first_stop,
    calls.is_last_stop,
    calls.visit_key,
    cast(round(calls.departure_seconds + times.running_seconds) as bigint) as scheduled_seconds,
    cast(floor(round(calls.departure_seconds + times.running_seconds) / 3600) as bigint) as service_hour,
    {{ add_seconds('calls.zero_at', 'round(calls.departure_seconds + times.running_seconds)') }} as scheduled_at,
    case times.basis
        when 'own' then calls.schedule_source
        when 'earlier' then 'earlier'
        when 'travel' then 'running_time'
        else 'pattern'
    end as schedule_source,
    case times.basis
        when 'own' then 0
        -- the travel times are of the same timetable rows as the errors: where there are none they are less sure
        when 'travel' then greatest(errors.error_seconds, parameters.match_travel_share * times.gap_seconds)
        else errors.error_seconds
    end as error_seconds
from {{ built('known_times') }} as calls
cross join {{ ref('inference_parameters') }} as parameters
inner join {{ built('call_times') }} as times using (departure_key, position)
left join {{ built('schedule_errors') }} as errors
    on
        times.operator = errors.operator
        and times.service_date = errors.service_date
        and times.basis = errors.basis
        and {{ schedule_gap_class('times.gap_seconds') }} = errors.gap_class
where times.holdout = 0
