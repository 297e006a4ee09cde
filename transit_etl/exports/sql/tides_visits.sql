-- One row per visit of the period, numbered along its trip as TIDES asks: from 1, without gaps, in the order of the
-- line. The order of times would be wrong where a stop that was not seen has a scheduled time, and its neighbours an
-- observed one.
select
    visits.*,
    row_number() over (
        partition by visits.service_date, visits.trip_id
        order by visits.position, coalesce(visits.passed_at, visits.scheduled_at, visits.last_seen_at), visits.visit_key
    ) as trip_stop_sequence
from core.stop_visits as visits
where visits.operator = $operator and $condition
