{{ config(schema='core') }}
-- One row per operator, service_date, line, direction, service, departure, duplicate and position drawn for the audit
-- sample: with what probability, and what came of it.
with departures as (
    select
        *,
        coalesce(service_code, '') as drawn_service_code
    from {{ built('timetable_departures') }}
),

last_departures as (
    -- a departure that was withdrawn and listed again has several validities
    select *
    from {{ first_rows('departures', [
        'operator', 'service_date', 'line_code', 'direction', 'drawn_service_code', 'departure_at', 'duplicate_number'
    ], 'is_in_force desc, valid_from desc') }} as last_validities
)

select
    draws.operator,
    draws.service_date,
    draws.line_code,
    draws.direction,
    draws.service_code,
    draws.departure_at,
    draws.duplicate_number,
    draws.position,
    draws.stop_code,
    departures.departure_key,
    matches.trip_key,
    visits.visit_key,
    draws.inclusion_probability,
    draws.first_due_at,
    draws.due_at,
    draws.n_requests,
    draws.n_audit_requests,
    draws.n_answers,
    case
        when departures.is_in_force is not true then 'withdrawn'
        when missing.outcome = 'not_run' then 'not_run'
        when visits.arrival_quality in ('evidenced', 'bounded') then 'passed'
        when legs.stop_code is null and visits.visit_key is null then 'not_served'
        when draws.n_requests = 0 then 'starved'
        when draws.n_answers = 0 then 'not_answered'
        when visits.is_lost then 'tracking_lost'
        when draws.last_answer_at < draws.due_at then 'cut_off'
        when visits.arrival_quality = 'estimated' then 'given_up'
        when visits.arrival_quality = 'untracked' then 'never_tracked'
        when matches.trip_key is null then 'unmatched'
        else 'never_listed'
    end as result,
    visits.scheduled_at,
    visits.passed_at,
    visits.passed_after,
    visits.passed_before,
    visits.delay_seconds,
    visits.punctuality_point,
    rules.ruleset_version
from {{ built('audit_draws') }} as draws
{{ join_rules('draws.service_date') }}
left join last_departures as departures
    on
        draws.operator = departures.operator
        and draws.service_date = departures.service_date
        and draws.line_code = departures.line_code
        and draws.direction = departures.direction
        and draws.service_code = departures.drawn_service_code
        and draws.departure_at = departures.departure_at
        and draws.duplicate_number = departures.duplicate_number
left join {{ built('departure_matches') }} as matches using (departure_key)
left join {{ built('trip_calls') }} as calls
    on departures.departure_key = calls.departure_key and draws.position = calls.position and calls.is_call_of_departure
left join {{ built('stop_visits') }} as visits on calls.visit_key = visits.visit_key
left join {{ built('leg_stops') }} as legs
    on
        departures.operator = legs.operator
        and departures.service_date = legs.service_date
        and departures.line_code = legs.line_code
        and departures.direction = legs.direction
        and departures.leg = legs.leg
        and draws.position = legs.position
        and not legs.is_rare
left join {{ built('missing_departures') }} as missing on departures.departure_key = missing.departure_key
