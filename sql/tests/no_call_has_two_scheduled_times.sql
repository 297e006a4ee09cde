{{ config(severity='error', meta={'checks': 'logic'}) }}
-- Calls that two published tables say were due at different times. A table may not know the time.
select
    calls.service_date,
    calls.departure_key,
    calls.position,
    calls.scheduled_at,
    visits.scheduled_at as other_scheduled_at
from {{ built('trip_trajectories') }} as calls
inner join {{ built('stop_visits') }} as visits using (visit_key)
where calls.scheduled_at != visits.scheduled_at
union all
select
    calls.service_date,
    calls.departure_key,
    calls.position,
    calls.scheduled_at,
    drawn.scheduled_at as other_scheduled_at
from {{ built('trip_trajectories') }} as calls
inner join {{ built('audit_visits') }} as drawn using (operator, service_date, departure_key, position)
where calls.scheduled_at != drawn.scheduled_at
