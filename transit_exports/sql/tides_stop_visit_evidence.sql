-- One row per row of stop_visits: what is known of it that TIDES has no column for.
select
    service_date,
    trip_id_performed,
    trip_stop_sequence,
    $columns
from ($visits)
order by service_date, trip_id_performed, trip_stop_sequence
