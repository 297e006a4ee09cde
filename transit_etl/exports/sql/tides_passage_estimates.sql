-- One row per passage due, observed or not. Its scheduled trip is that of trips_performed, if a trip is matched with it.
select
    service_date,
    departures.scheduled_trip_id as trip_id_scheduled,
    position as scheduled_stop_sequence,
    $columns
from core.trip_trajectories
inner join (
    select
        departure_key,
        scheduled_trip_id(line_code, direction, service_code, leg, service_seconds, duplicate_number) as scheduled_trip_id
    from core.scheduled_departures
    where is_in_force and $condition
) as departures using (departure_key)
where operator = $operator and $condition
order by service_date, departures.scheduled_trip_id, position
