{{ config(materialized='ephemeral') }}
-- One row per trip without a match by timetable times, and leg that it may run as: when it left the origin of the leg,
-- and since when it was live.
with visits as (
    -- when it left the origin, computed from each of its stops
    select
        visits.*,
        coalesce({{ add_seconds('visits.passed_at', '-visits.day_running_seconds') }}, visits.estimated_departure_at)
            as left_at,
        row_number() over (
            partition by visits.trip_key, visits.leg order by visits.position, visits.visit_number, visits.stop_code
        ) as nth_stop
    from {{ built('leg_visits') }} as visits
    left join {{ built('timetable_matches') }} as matches using (trip_key)
    where
        matches.trip_key is null
        and visits.first_live_at is not null
        and not visits.is_anonymous
)

select *
from (
    select
        trip_key,
        operator,
        service_date,
        trip_id,
        line_code,
        direction,
        leg,
        origin_position,
        case
            -- it may have started at any stop: the first known one is taken for the origin
            when origin_position is null then min(passed_at)
            else
                coalesce(
                    min(case when position = origin_position then passed_at end),
                    -- the stops nearest to the origin are most accurate, because a bus may be faster or slower than
                    -- usual
                    median(case when nth_stop <= 5 then left_at end)
                )
        end as left_at,
        coalesce(min(from_origin_seconds), 0) as from_origin_seconds,
        {{ trip_live_from() }} as first_live_at,
        max(passed_after) as last_live_at,
        rank() over (partition by trip_key order by count(*) desc, line_code, direction) as nth
    from visits
    group by trip_key, operator, service_date, trip_id, line_code, direction, leg, origin_position
) as ranked
where nth = 1
