{{ config(materialized='ephemeral') }}
-- One row per visit of a matched trip at a position of its line: where it was listed at a position several times, the
-- first visit that was listed live.
select *
from (
    select
        visits.*,
        matches.departure_key,
        row_number() over (
            partition by visits.trip_key, visits.line_code, visits.direction, visits.position
            order by case when visits.n_polls > 0 then 0 else 1 end, visits.visit_number, visits.stop_code
        ) as nth
    from {{ built('departure_matches') }} as matches
    inner join {{ built('stop_visits') }} as visits using (trip_key, line_code, direction)
    where visits.position is not null
) as numbered
where nth = 1
