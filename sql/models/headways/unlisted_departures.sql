-- One row per departure in force and stop of its leg at which its trip has no visit with a scheduled time: when the bus
-- was due there, as long after the departure as other trips of the leg.
select
    departures.operator,
    departures.service_date,
    departures.line_code,
    departures.direction,
    departures.leg,
    departures.service_code,
    departures.departure_at,
    departures.duplicate_number,
    departures.valid_from,
    departures.outcome,
    stops.position,
    stops.stop_code,
    {{ add_seconds('departures.departure_at', 'stops.offset_seconds') }} as scheduled_at,
    cast(floor((departures.service_seconds + stops.offset_seconds) / 3600) as bigint) as service_hour
from {{ built('scheduled_departures') }} as departures
inner join {{ built('leg_stops') }} as stops
    on
        departures.operator = stops.operator
        and departures.service_date = stops.service_date
        and departures.line_code = stops.line_code
        and departures.direction = stops.direction
        and departures.leg = stops.leg
        and stops.offset_seconds is not null
left join {{ built('stop_visits') }} as visits
    on
        departures.operator = visits.operator
        and departures.service_date = visits.service_date
        and departures.matched_trip_id = visits.trip_id
        and departures.line_code = visits.line_code
        and departures.direction = visits.direction
        and stops.position = visits.position
        and visits.scheduled_at is not null
where
    departures.is_in_force
    and visits.trip_id is null
