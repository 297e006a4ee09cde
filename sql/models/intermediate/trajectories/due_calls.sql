-- One row per departure in force that may have run, and position of its leg, once it is due: when its bus was due
-- there, and what was observed of it.
with departures as (
    select
        departures.*,
        matches.trip_key,
        matches.basis,
        days.zero_at,
        {{ seconds_between('days.zero_at', 'departures.departure_at') }} as departure_seconds
    from {{ built('scheduled_departures') }} as departures
    inner join {{ watched_dates() }} as watched_dates using (operator, service_date)
    inner join {{ built('service_days') }} as days using (operator, service_date)
    left join {{ built('departure_matches') }} as matches using (departure_key)
    where departures.is_in_force and departures.outcome != 'not_run'
),

calls as (
    select
        departures.*,
        stops.position,
        stops.stop_code,
        stops.offset_seconds as leg_offset_seconds,
        times.travel_seconds,
        min(stops.position) over (partition by departures.departure_key) = stops.position as is_first_stop,
        visits.visit_key,
        visits.schedule_source,
        {{ seconds_between('departures.departure_at', 'visits.scheduled_at') }} as known_offset_seconds,
        visits.passed_at,
        visits.passed_after,
        visits.passed_before,
        visits.arrival_quality,
        coalesce(visits.is_out_of_order, false) as is_out_of_order
    from departures
    inner join {{ built('leg_stops') }} as stops using (operator, service_date, line_code, direction, leg)
    left join {{ built('line_travel_times') }} as times using (operator, service_date, line_code, direction, position)
    left join {{ ref('first_visits') }} as visits
        on
            departures.trip_key = visits.trip_key
            and departures.line_code = visits.line_code
            and departures.direction = visits.direction
            and stops.position = visits.position
),

between_departures as (
    -- the nearest departures of the leg, before and after, whose running time to the stop is known
    select
        *,
        {{ nearest_known(
            {"offset": "known_offset_seconds", "departure": "departure_seconds"}, "known_offset_seconds is not null"
        ) }}
    from calls
    window
        before as (
            partition by operator, service_date, line_code, direction, leg, position
            order by departure_seconds, departure_key rows between unbounded preceding and 1 preceding
        ),
        after as (
            partition by operator, service_date, line_code, direction, leg, position
            order by departure_seconds, departure_key rows between 1 following and unbounded following
        )
),

learned as (
    select
        *,
        case
            when known_offset_seconds is not null then known_offset_seconds
            when departure_after > departure_before
                then
                    offset_before
                    + (offset_after - offset_before) * (departure_seconds - departure_before)
                    / (departure_after - departure_before)
            else coalesce(offset_before, offset_after, leg_offset_seconds, case when is_first_stop then 0 end)
        end as learned_offset_seconds
    from between_departures
),

between_stops as (
    -- the nearest stops of the departure, before and after, whose running time is known
    select
        *,
        {{ nearest_known(
            {"stop_offset": "learned_offset_seconds", "travel": "travel_seconds"}, "learned_offset_seconds is not null"
        ) }}
    from learned
    window
        before as (partition by departure_key order by position rows between unbounded preceding and 1 preceding),
        after as (partition by departure_key order by position rows between 1 following and unbounded following)
),

scheduled as (
    select
        *,
        cast(round(departure_seconds + case
            when learned_offset_seconds is not null then learned_offset_seconds
            when travel_after > travel_before
                then
                    stop_offset_before
                    + (stop_offset_after - stop_offset_before) * (travel_seconds - travel_before)
                    / (travel_after - travel_before)
            when travel_before is not null then stop_offset_before + travel_seconds - travel_before
            when travel_after is not null then stop_offset_after - travel_after + travel_seconds
            else travel_seconds
        end) as bigint) as scheduled_seconds
    from between_stops
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
    scheduled.trip_key,
    scheduled.basis,
    scheduled.match_score,
    scheduled.visit_key,
    {{ add_seconds('scheduled.zero_at', 'scheduled.scheduled_seconds') }} as scheduled_at,
    coalesce(scheduled.schedule_source, 'running_time') as schedule_source,
    scheduled.zero_at,
    scheduled.scheduled_seconds,
    scheduled.scheduled_seconds - scheduled.departure_seconds as running_seconds,
    scheduled.passed_at,
    scheduled.passed_after,
    scheduled.passed_before,
    case when not scheduled.is_out_of_order then scheduled.arrival_quality end as arrival_quality,
    cast(round({{ seconds_between('scheduled.zero_at', 'scheduled.passed_at') }}) as bigint)
    - scheduled.scheduled_seconds as delay_seconds,
    scheduled.ruleset_version
from scheduled
inner join {{ last_answers() }} as last_answers using (operator)
where {{ add_seconds('scheduled.zero_at', 'scheduled.scheduled_seconds') }} <= last_answers.last_received_at
