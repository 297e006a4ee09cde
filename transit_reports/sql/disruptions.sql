-- Disruptions that held in the period, in the order of the minutes of lines that they took at least.
with $asked,

names as (
    select
        episode_id,
        count(distinct coalesce(line_code, named)) as n_lines
    from core.status_episode_lines
    group by episode_id
),

links as (
    select
        episode_id,
        string_agg(distinct title, ' · ' order by title) as news
    from core.news_episodes
    inner join core.news using (operator, news_id)
    group by episode_id
),

held as (
    select
        disruptions.*,
        greatest(begun_before, asked.from_at) as begun_at,
        greatest(begun_after, asked.from_at) as begun_high_at,
        least(ended_after, asked.to_at) as ended_low_at,
        least(coalesce(ended_before, asked.to_at), asked.to_at) as ended_high_at,
        coalesce(ended_before > asked.to_at, true) as goes_on
    from marts.disruptions as disruptions
    cross join asked
    where
        not disruptions.is_plant
        and disruptions.begun_after < asked.to_at
        and coalesce(disruptions.ended_before, asked.to_at) >= asked.from_at
)

select
    episode_id,
    lines,
    array_to_string(lines, ', ') as line_names,
    coalesce(event_meaning, event) as event,
    cause,
    cause_class,
    message,
    news,
    local_time(begun_at) as begun,
    case when not goes_on then local_time(ended_high_at) end as ended,
    greatest(epoch(ended_low_at - begun_at), 0) / 60 as minutes_low,
    greatest(epoch(ended_high_at - begun_high_at), 0) / 60 as minutes_high,
    greatest(epoch(ended_low_at - begun_at), 0) / 60 * coalesce(n_lines, 1) as line_minutes_low,
    greatest(epoch(ended_high_at - begun_high_at), 0) / 60 * coalesce(n_lines, 1) as line_minutes_high
from held
left join names using (episode_id)
left join links using (episode_id)
order by line_minutes_low desc, begun, episode_id
