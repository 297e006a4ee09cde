-- One row per passage due, observed or not. Its scheduled trip is that of trips_performed, if a trip is matched with it.
select
    service_date,
    departures.trip_id_scheduled,
    stop_sequence as scheduled_stop_sequence,
    $columns
from core.trip_trajectories
inner join (
    select
        departure_key,
        trip_id_scheduled
    from core.scheduled_departures
    where is_in_force and $condition
) as departures using (departure_key)
where operator = $operator and $condition
order by service_date, departures.trip_id_scheduled, stop_sequence
