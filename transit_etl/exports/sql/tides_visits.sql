-- One row per visit of the period, numbered along its trip as TIDES asks: from 1, without gaps.
select
    visits.*,
    row_number() over (
        partition by visits.service_date, visits.trip_id
        order by coalesce(visits.passed_at, visits.scheduled_at, visits.last_seen_at), visits.position, visits.visit_key
    ) as trip_stop_sequence
from core.stop_visits as visits
where visits.operator = $operator and $condition
