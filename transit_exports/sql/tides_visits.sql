-- One row per visit of a trip that was seen, numbered along its trip as TIDES asks: from 1, without gaps, in the order
-- of the line. The order of times would be wrong where a stop that was not seen has a scheduled time, and its
-- neighbours an observed one.
select
    visits.*,
    trips.trip_id_performed,
    row_number() over (
        partition by trips.trip_key
        order by visits.position, coalesce(visits.passed_at, visits.scheduled_at, visits.last_seen_at), visits.visit_key
    ) as trip_stop_sequence
from core.stop_visits as visits
inner join (
    select
        trip_key,
        trip_id_performed
    from core.trips
    where n_live > 0 and $condition
) as trips using (trip_key)
where visits.operator = $operator and $condition
