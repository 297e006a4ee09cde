-- One row per visit, in the columns of TIDES and in their order. The interface gives one time at a stop: it stands for
-- arrival and departure, if the passage was observed. What nothing observes is empty.
select
    service_date,
    trip_id_performed,
    trip_stop_sequence,
    stop_sequence as scheduled_stop_sequence,
    null as pattern_id,
    'unknown' as vehicle_id,
    null as dwell,
    stop_code as stop_id,
    null as timepoint,
    tides_time(scheduled_at) as schedule_arrival_time,
    tides_time(scheduled_at) as schedule_departure_time,
    tides_time(observed_at(passed_at, arrival_quality)) as actual_arrival_time,
    tides_time(observed_at(passed_at, arrival_quality)) as actual_departure_time,
    null as distance,
    null as boarding_1,
    null as alighting_1,
    null as boarding_2,
    null as alighting_2,
    null as departure_load,
    null as door_open,
    null as door_close,
    null as door_status,
    null as ramp_deployed_time,
    null as ramp_failure,
    null as kneel_deployed_time,
    null as lift_deployed_time,
    null as bike_rack_deployed,
    null as bike_load,
    null as revenue,
    null as number_of_transactions,
    case
        when scheduled_at is null then null
        when observed_at(passed_at, arrival_quality) is null then 'Missing'
        else 'Scheduled'
    end as schedule_relationship
from ($visits)
order by service_date, trip_id_performed, trip_stop_sequence
