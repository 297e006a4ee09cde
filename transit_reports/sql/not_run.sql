-- Departures in force that did not run.
select
    line_code,
    direction,
    service_date,
    local_time(departure_at) as departs_at,
    headsign
from core.scheduled_departures
where service_date between $first and $last and is_in_force and outcome = 'not_run'
order by all
