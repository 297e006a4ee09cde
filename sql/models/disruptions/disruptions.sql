{{ config(materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
-- One row per episode of the service status: its meaning, and lower and upper bounds of its duration.
-- An open episode has no upper bound yet; one withdrawn before it was to start lasted for no time. The time in which it
-- was missing from the list counts in the upper bound alone.
{%- set in_force = "cast(episodes.begun_before as date) >= meanings.valid_from_date"
    " and cast(episodes.begun_before as date) < meanings.valid_to_date" %}
with episodes as (
    select
        *,
        comparable_text(cause) as comparable_cause,
        comparable_text(message) as comparable_message
    from {{ ref('status_episodes') }}
),

events as (
    -- a code may say something else of a lift than of a bus
    select
        episodes.episode_id,
        meanings.meaning,
        meanings.effect_class,
        meanings.gtfs_effect,
        row_number() over (
            partition by episodes.episode_id order by case when meanings.category is null then 1 else 0 end
        ) as nth
    from episodes
    inner join {{ ref('event_meanings') }} as meanings
        on
            episodes.event = meanings.event
            and coalesce(meanings.category = episodes.category, meanings.category is null)
            and {{ in_force }}
),

causes as (
    -- the longest words in the cause count, and if there are none, those in the message
    select
        episodes.episode_id,
        meanings.cause_class,
        meanings.gtfs_cause,
        row_number() over (
            partition by episodes.episode_id
            order by
                case when has_text(episodes.comparable_cause, meanings.cause) then 0 else 1 end,
                length(meanings.cause) desc,
                meanings.cause
        ) as nth
    from episodes
    inner join {{ ref('cause_meanings') }} as meanings
        on
            (
                has_text(episodes.comparable_cause, meanings.cause)
                or has_text(episodes.comparable_message, meanings.cause)
            )
            and {{ in_force }}
),

effects as (
    select
        episodes.episode_id,
        meanings.effect_class,
        meanings.gtfs_effect,
        meanings.is_decisive,
        row_number() over (
            partition by episodes.episode_id
            order by case when meanings.is_decisive then 0 else 1 end, length(meanings.words) desc, meanings.words
        ) as nth
    from episodes
    inner join {{ ref('effect_words') }} as meanings
        on has_text(episodes.comparable_message, meanings.words) and {{ in_force }}
),

plants as (
    select distinct episode_id
    from {{ ref('status_episode_lines') }}
    where is_plant
),

durations as (
    -- per listing, whatever it names
    select
        episode_id,
        sum(greatest(seconds_between(low_from, low_to), 0)) as low_seconds
    from (
        select distinct
            episode_id,
            version_number,
            low_from,
            max(low_to) over (partition by episode_id, version_number) as low_to
        from {{ ref('status_stretches') }}
    ) as stretches
    group by episode_id
),

versions as (
    select
        episode_id,
        max(version_number) as n_versions
    from {{ ref('status_episode_versions') }}
    group by episode_id
),

described as (
    select
        episodes.*,
        categories.meaning as category_meaning,
        plants.episode_id is not null as is_plant,
        events.meaning as event_meaning,
        -- the text decides where it says more than the code
        case
            when effects.is_decisive or coalesce(events.effect_class, 'notice') = 'notice'
                then coalesce(effects.effect_class, events.effect_class, 'unknown')
            -- plant has no stops
            when plants.episode_id is not null and events.effect_class in ('stop_suspended', 'suspension')
                then 'out_of_use'
            else events.effect_class
        end as effect_class,
        case
            when categories.gtfs_effect is not null then categories.gtfs_effect
            when effects.is_decisive then effects.gtfs_effect
            when coalesce(events.effect_class, 'notice') = 'notice'
                then coalesce(effects.gtfs_effect, events.gtfs_effect)
            else events.gtfs_effect
        end as gtfs_effect,
        coalesce(causes.cause_class, 'unknown') as cause_class,
        causes.gtfs_cause,
        case
            when episodes.started_at is null then 'unknown'
            when episodes.first_seen_at < episodes.announced_start_at then 'before'
            when episodes.listed_after >= episodes.announced_start_at then 'after'
            else 'unknown'
        end as announced,
        versions.n_versions,
        cast(coalesce(floor(durations.low_seconds), 0) as bigint) as duration_low_seconds,
        case
            when not episodes.is_open
                then cast(
                    ceil(
                        seconds_between(episodes.begun_after, greatest(episodes.begun_after, episodes.ended_before))
                    ) as bigint
                )
        end as duration_high_seconds
    from episodes
    left join {{ ref('category_meanings') }} as categories using (category)
    left join events on episodes.episode_id = events.episode_id and events.nth = 1
    left join causes on episodes.episode_id = causes.episode_id and causes.nth = 1
    left join effects on episodes.episode_id = effects.episode_id and effects.nth = 1
    left join durations on episodes.episode_id = durations.episode_id
    left join plants on episodes.episode_id = plants.episode_id
    left join versions on episodes.episode_id = versions.episode_id
)

select
    episode_id,
    operator,
    category,
    category_meaning,
    is_plant,
    event,
    event_meaning,
    effect_class,
    gtfs_effect,
    cause,
    cause_class,
    gtfs_cause,
    message,
    lines,
    lines_kind,
    started_at,
    announced_start_at,
    announced,
    begun_after,
    begun_before,
    listed_after,
    first_seen_at,
    last_seen_at,
    ended_after,
    ended_before,
    is_open,
    n_versions,
    n_flaps,
    duration_low_seconds,
    duration_high_seconds,
    {%- set bands = [('under 1 hour', 3600), ('1 to 4 hours', 14400), ('4 to 24 hours', 86400)] %}
    -- `unknown` where the bounds lie in different bands
    case
        {%- for name, seconds in bands %}
            when
                duration_high_seconds < {{ seconds }}
                and duration_low_seconds >= {{ bands[loop.index0 - 1][1] if loop.index0 else 0 }}
                then '{{ name }}'
        {%- endfor %}
        when duration_low_seconds >= 86400 then 'over 24 hours'
        else 'unknown'
    end as duration_band,
    ruleset_version
from described
