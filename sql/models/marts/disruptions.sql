{{ config(materialized='table') }}
-- One row per episode of the service status: its meaning, and lower and upper bounds of its duration.
-- An open episode has no upper bound yet; one withdrawn before it was to start lasted for no time.
select
    episodes.episode_id,
    episodes.operator,
    episodes.category,
    categories.meaning as category_meaning,
    episodes.event,
    events.meaning as event_meaning,
    events.gtfs_effect,
    episodes.cause,
    episodes.message,
    episodes.lines,
    episodes.lines_kind,
    episodes.started_at,
    episodes.first_seen_at,
    episodes.last_seen_at,
    episodes.ended_after,
    episodes.ended_before,
    episodes.is_open,
    cast({{ seconds_between(
        'episodes.started_at', 'greatest(episodes.started_at, episodes.ended_after)'
    ) }} as bigint) as duration_low_seconds,
    case
        when not episodes.is_open
            then cast({{ seconds_between(
                'episodes.started_at', 'greatest(episodes.started_at, episodes.ended_before)'
            ) }} as bigint)
    end as duration_high_seconds,
    episodes.ruleset_version
from {{ ref('status_episodes') }} as episodes
left join {{ ref('event_meanings') }} as events using (event)
left join {{ ref('category_meanings') }} as categories using (category)
