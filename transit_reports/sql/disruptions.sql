-- Disruptions that held in the period, in the order of the minutes of lines that they took at least.
with $asked,

held as (
    select
        disruptions.*,
        greatest(coalesce(started_at, first_seen_at), asked.from_at) as begun_at,
        least(ended_after, asked.to_at) as ended_low_at,
        least(coalesce(ended_before, asked.to_at), asked.to_at) as ended_high_at,
        coalesce(ended_before > asked.to_at, true) as goes_on
    from marts.disruptions as disruptions
    cross join asked
    where
        disruptions.category != 'ASC'
        and coalesce(disruptions.started_at, disruptions.first_seen_at) < asked.to_at
        and coalesce(disruptions.ended_before, asked.to_at) >= asked.from_at
)

select
    episode_id,
    lines,
    array_to_string(lines, ', ') as line_names,
    coalesce(event_meaning, event) as event,
    cause,
    message,
    local_time(begun_at) as begun,
    case when not goes_on then local_time(ended_high_at) end as ended,
    greatest(epoch(ended_low_at - begun_at), 0) / 60 as minutes_low,
    greatest(epoch(ended_high_at - begun_at), 0) / 60 as minutes_high,
    greatest(epoch(ended_low_at - begun_at), 0) / 60 * greatest(len(lines), 1) as line_minutes_low,
    greatest(epoch(ended_high_at - begun_at), 0) / 60 * greatest(len(lines), 1) as line_minutes_high
from held
order by line_minutes_low desc, begun, episode_id
