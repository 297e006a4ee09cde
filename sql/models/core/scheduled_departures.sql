-- One row per operator, service_date, line, direction, service, departure, duplicate and validity: what the timetable
-- announced, and the outcome.
select
    departures.departure_key,
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
        when departures.is_in_force then coalesce(missing.outcome, trips.outcome)
        else 'withdrawn'
    end as outcome,
    rules.ruleset_version
from {{ ref('timetable_departures') }} as departures
{{ join_rules('departures.service_date') }}
left join {{ ref('departure_matches') }} as matches
    on departures.departure_key = matches.departure_key and {{ is_built('matches.service_date') }}
left join {{ ref('trips') }} as trips
    on matches.trip_key = trips.trip_key and {{ is_built('trips.service_date') }}
left join {{ ref('missing_departures') }} as missing
    on departures.departure_key = missing.departure_key and {{ is_built('missing.service_date') }}
where {{ is_built('departures.service_date') }}
