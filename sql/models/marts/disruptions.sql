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
    -- a code says something else of a lift than of a bus
    coalesce(categories.gtfs_effect, events.gtfs_effect) as gtfs_effect,
    episodes.cause,
    causes.gtfs_cause,
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
left join {{ ref('event_meanings') }} as events
    on
        episodes.event = events.event
        and cast(coalesce(episodes.started_at, episodes.first_seen_at) as date) >= events.valid_from_date
        and cast(coalesce(episodes.started_at, episodes.first_seen_at) as date) < events.valid_to_date
left join {{ ref('cause_meanings') }} as causes
    on
        lower(trim(episodes.cause)) = causes.cause
        and cast(coalesce(episodes.started_at, episodes.first_seen_at) as date) >= causes.valid_from_date
        and cast(coalesce(episodes.started_at, episodes.first_seen_at) as date) < causes.valid_to_date
left join {{ ref('category_meanings') }} as categories on episodes.category = categories.category
