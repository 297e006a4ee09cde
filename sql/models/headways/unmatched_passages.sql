{{ config(materialized=inlined()) }}
-- One row per visit observed passing whose trip is not known to have run as a departure: an added bus, or one whose
-- departure was not found.
select
    visits.visit_key,
    visits.operator,
    visits.service_date,
    visits.line_code,
    visits.direction,
    visits.position,
    visits.stop_code,
    visits.service_hour,
    visits.passed_at,
    visits.passed_after,
    visits.passed_before
from {{ built('stop_visits') }} as visits
left join {{ built('departure_matches') }} as matches using (trip_key)
where
    matches.trip_key is null
    and visits.line_code is not null
    and visits.position is not null
    and visits.arrival_quality in ('evidenced', 'bounded')
