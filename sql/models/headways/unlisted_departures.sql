-- One row per departure in force and stop of its leg at which its trip has no visit with a scheduled time: when the bus
-- was due there.
select
    calls.departure_key,
    calls.operator,
    calls.service_date,
    calls.line_code,
    calls.direction,
    calls.position,
    calls.stop_code,
    calls.service_hour,
    calls.scheduled_at,
    departures.outcome
from {{ built('scheduled_calls') }} as calls
inner join {{ built('scheduled_departures') }} as departures using (departure_key)
left join {{ built('stop_visits') }} as visits
    on calls.visit_key = visits.visit_key and visits.scheduled_at is not null
where visits.visit_key is null
