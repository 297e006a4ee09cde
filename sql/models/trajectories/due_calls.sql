-- One row per departure in force that may have run, and position of its leg, once it is due: when its bus was due
-- there, and what was observed of it.
with calls as (
    select
        calls.*,
        coalesce(calls.known_seconds, learned.learned_seconds) as learned_seconds,
        calls.known_seconds is not null
        or coalesce(learned.difference_seconds <= parameters.pattern_same_seconds, false) as is_timed
    from {{ built('scheduled_calls') }} as calls
    cross join {{ ref('inference_parameters') }} as parameters
    left join {{ built('learned_times') }} as learned using (departure_key, position)
),

between_stops as (
    -- the nearest stops of the departure, before and after, whose time is known or learned
    select
        *,
        {{ nearest_known(
            {"learned": "learned_seconds", "travel": "travel_seconds"}, "learned_seconds is not null"
        ) }}
    from calls
    window
        before as (partition by departure_key order by position rows between unbounded preceding and 1 preceding),
        after as (partition by departure_key order by position rows between 1 following and unbounded following)
),

scheduled as (
    select
        *,
        cast(round(departure_seconds + case
            when learned_seconds is not null then learned_seconds
            when travel_after > travel_before
                then
                    learned_before
                    + (learned_after - learned_before) * (travel_seconds - travel_before)
                    / (travel_after - travel_before)
            when travel_before is not null then learned_before + travel_seconds - travel_before
            when travel_after is not null then learned_after - travel_after + travel_seconds
            else travel_seconds
        end) as bigint) as scheduled_seconds
    from between_stops
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
    -- not where all buses of the leg seem to be far later or earlier than where their time is listed
    scheduled.is_timed
    and (
        scheduled.is_listed
        or coalesce(abs(scheduled.stop_seconds - scheduled.leg_seconds) <= parameters.schedule_jump_seconds, true)
    ) as is_timed,
    scheduled.zero_at,
    scheduled.scheduled_seconds,
    scheduled.scheduled_seconds - scheduled.departure_seconds as running_seconds,
    scheduled.passed_at,
    scheduled.passed_after,
    scheduled.passed_before,
    case when not scheduled.is_out_of_order then scheduled.arrival_quality end as arrival_quality,
    scheduled.delay_seconds,
    scheduled.ruleset_version
from compared as scheduled
cross join {{ ref('inference_parameters') }} as parameters
inner join {{ last_answers() }} as last_answers using (operator)
where {{ add_seconds('scheduled.zero_at', 'scheduled.scheduled_seconds') }} <= last_answers.last_received_at
