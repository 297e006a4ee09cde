-- One row per event of the service status that held at any time between two instants, with the lines it is about.
with found as (
    select
        *,
        begun_before as start_at,
        ended_before as end_at
    from marts.disruptions
    where
        operator = $operator
        and first_seen_at <= $$end
        and coalesce(ended_before > $$start, true)
),

routes as (
    select
        named.episode_id,
        list(distinct named.line_code order by named.line_code) as routes
    from core.status_episode_lines as named
    inner join found using (operator, episode_id)
    where named.line_code is not null
    group by named.episode_id
),

stops as (
    -- a lift is called what the stop at it is called, or that after a word for what it is: `Ascensore Castello`
    select
        lifts.episode_id,
        list(distinct stops.stop_code order by stops.stop_code) as stops
    from (select episode_id, operator, unnest(lines) as lift from found where is_plant) as lifts
    inner join core.stops as stops
        on
            lifts.operator = stops.operator
            and lower(strip_accents(stops.stop_name)) in (
                lower(strip_accents(lifts.lift)), ltrim(lower(strip_accents(substr(lifts.lift, strpos(lifts.lift, ' ')))))
            )
    group by lifts.episode_id
)

select
    found.episode_id,
    found.start_at,
    case when found.end_at >= found.start_at then found.end_at end as end_at,
    found.gtfs_cause,
    found.gtfs_effect,
    routes.routes,
    stops.stops,
    found.event,
    found.event_meaning,
    array_to_string(found.lines, ', ') as names,
    found.message
from found
left join routes using (episode_id)
left join stops using (episode_id)
order by found.start_at, found.episode_id
