-- One row per departure in force and position of its leg, once it is due: when its bus was due there, and what was
-- observed of it. Also of departures that did not run, of which nothing was observed.
with departures as (
    select
        departures.departure_key,
        rules.ruleset_version,
        matches.trip_key,
        matches.match_score,
        {{ is_guessed_match() }} as is_guessed,
        errors.* {{ exclude("departure_key") }}
    from {{ built('timetable_departures') }} as departures
    {{ join_rules('departures.service_date') }}
    left join {{ built('departure_matches') }} as matches using (departure_key)
    left join {{ ref('match_errors') }} as errors using (departure_key)
),

scheduled as (
    select
        calls.*,
        departures.match_score,
        departures.ruleset_version,
        departures.trip_key,
        departures.is_guessed,
        coalesce(departures.wrong_share, 0) as wrong_share,
        coalesce(departures.wrong_shift_seconds, 0) as wrong_shift_seconds,
        departures.wrong_seconds,
        coalesce(departures.match_error_seconds, 0) as match_error_seconds,
        coalesce(departures.match_line_error_seconds, 0) as match_line_error_seconds,
        visits.passed_at,
        visits.passed_after,
        visits.passed_before,
        visits.arrival_quality,
        coalesce(visits.is_out_of_order, false) as is_out_of_order
    from {{ built('scheduled_calls') }} as calls
    inner join departures using (departure_key)
    inner join {{ last_answers() }} as last_answers using (operator)
    left join {{ built('trip_calls') }} as visits using (visit_key)
    where calls.scheduled_at <= last_answers.last_received_at
),

delayed as (
    select
        *,
        cast(round(seconds_between(zero_at, passed_at)) as bigint) - scheduled_seconds
        -- of a guess, as it is to be expected if the match may be wrong
        + cast(round(case when is_guessed then wrong_share * wrong_shift_seconds else 0 end) as bigint)
            as delay_seconds,
        case
            when arrival_quality in ('evidenced', 'bounded') and not is_out_of_order
                then seconds_between(zero_at, passed_at) - scheduled_seconds
        end as observed_seconds,
        schedule_source in ('theoretical', 'timetable') as is_listed,
        {{ quotient("departure_seconds", 10800) }} as part_of_day
    from scheduled
),

compared as (
    select
        *,
        count(*) over (
            partition by operator, service_date, line_code, direction, stop_code, service_hour
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
    calls.* {{ exclude(
        "departure_seconds, error_seconds, is_out_of_order, observed_seconds, is_listed, part_of_day, stop_seconds",
        "leg_seconds, arrival_quality"
    ) }},
    case when not calls.is_out_of_order then calls.arrival_quality end as arrival_quality,
    calls.schedule_error_seconds <= parameters.timed_error_seconds as is_timed,
    -- a passage whose scheduled time is less sure tells of its trip too
    coalesce(calls.arrival_quality = 'evidenced' and not calls.is_out_of_order, false)
    and calls.schedule_error_seconds <= parameters.told_error_seconds as is_told,
    calls.scheduled_seconds - calls.departure_seconds as running_seconds
from judged as calls
cross join {{ ref('inference_parameters') }} as parameters
