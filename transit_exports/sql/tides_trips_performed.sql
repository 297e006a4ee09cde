-- One row per trip that was seen, or is known not to have run, in the columns of TIDES and in their order. A trip is
-- scheduled if it is matched with a departure; whether another one was added is not known. The interface tells no
-- vehicle.
select
    service_date,
    trips.trip_id_performed,
    'unknown' as vehicle_id,
    trips.trip_id_scheduled,
    trips.line_code as route_id,
    tides_mode(lines.route_type) as route_type,
    null as ntd_mode,
    null as route_type_agency,
    null as shape_id,
    null as pattern_id,
    case trips.direction when 'outbound' then 0 when 'inbound' then 1 end as direction_id,
    null as operator_id,
    null as block_id,
    starts.stop_code as trip_start_stop_id,
    null as trip_end_stop_id,
    tides_time(trips.scheduled_departure_at) as schedule_trip_start,
    null as schedule_trip_end,
    tides_time(starts.passed_at) as actual_trip_start,
    null as actual_trip_end,
    'In service' as trip_type,
    case
        when trips.outcome = 'not_run' then 'Canceled'
        when trips.scheduled_departure_at is not null then 'Scheduled'
    end as schedule_relationship
from core.trips as trips
left join core.latest_lines as lines using (operator, line_code)
left join (
    select
        trip_key,
        min(stop_code) as stop_code,
        min(observed_at(passed_at, arrival_quality)) as passed_at
    from core.stop_visits
    where position = 1 and $condition
    group by trip_key
) as starts using (trip_key)
where trips.operator = $operator and $condition and (trips.n_live > 0 or trips.outcome = 'not_run')
order by service_date, trips.trip_id_performed
