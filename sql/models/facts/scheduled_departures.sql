{{ config(schema='core') }}
-- One row per operator, service_date, line, direction, service, departure, duplicate and validity: what the timetable
-- announced, and the outcome. On a date on which no bus was seen to pass, or too much of what was seen is not
-- recognised, no departure is known not to have run.
with understood_dates as (
    select distinct
        operator,
        service_date
    from {{ built('trips') }}
    left join {{ built('unrecognised_dates') }} as unrecognised using (operator, service_date)
    where n_passed > 0 and unrecognised.null_reason is null
)

select
    departures.departure_key,
    departures.trip_id_scheduled,
    departures.operator,
    departures.service_date,
    departures.line_code,
    departures.direction,
    departures.service_code,
    departures.departure_at,
    departures.duplicate_number,
    departures.valid_from,
    departures.valid_to,
    departures.is_current,
    departures.is_in_force,
    departures.service_hour,
    departures.service_seconds,
    departures.is_slash_variant,
    departures.headsign,
    departures.service_description,
    departures.leg_description,
    departures.leg,
    matches.trip_key as matched_trip_key,
    matches.trip_id as matched_trip_id,
    matches.match_score,
    case
        when not departures.is_in_force then departures.not_in_force_reason
        when coalesce(missing.outcome, trips.outcome) = 'not_run' and understood.service_date is null
            then 'not_observable'
        else coalesce(missing.outcome, trips.outcome)
    end as outcome,
    rules.ruleset_version
from {{ built('timetable_departures') }} as departures
{{ join_rules('departures.service_date') }}
left join {{ built('departure_matches') }} as matches using (departure_key)
left join {{ built('trips') }} as trips using (trip_key)
left join {{ built('missing_departures') }} as missing using (departure_key)
left join understood_dates as understood
    on departures.operator = understood.operator and departures.service_date = understood.service_date
