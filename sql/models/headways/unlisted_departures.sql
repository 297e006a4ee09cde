-- One row per departure in force and stop of its leg at which its trip has no visit with a scheduled time: when the bus
-- was due there.
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
    calls.position,
    calls.stop_code,
    calls.scheduled_at,
    calls.service_hour
from {{ built('scheduled_calls') }} as calls
inner join {{ built('scheduled_departures') }} as departures using (departure_key)
left join {{ built('stop_visits') }} as visits
    on calls.visit_key = visits.visit_key and visits.scheduled_at is not null
where visits.visit_key is null
