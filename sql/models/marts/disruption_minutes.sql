{{ config(materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
-- One row per operator, service_date, category, event and line number: how long it was disrupted, from the first to the
-- last status answer of the date. Overlapping episodes count once; an episode lasts at least until the last answer with
-- it, at most until the first later answer without it. Episodes that name no line are under a null line; one withdrawn
-- before it was to start took no time, and has no row.
{%- set keys = ["operator", "service_date", "category", "event", "line_number"] %}
{%- set grain = keys | join(", ") %}
with line_days as (
    select
        episodes.operator,
        watched.service_date,
        episodes.category,
        episodes.event,
        coalesce(episodes.named, '') as line_number,
        episodes.episode_id,
        watched.ruleset_version,
        greatest(episodes.from_at, watched.watched_from) as from_at,
        least(episodes.low_to_at, watched.watched_to) as low_to_at,
        least(episodes.high_to_at, watched.watched_to) as high_to_at
    from {{ named_episodes() }} as episodes
    inner join {{ ref('status_coverage') }} as watched
        on
            episodes.operator = watched.operator
            and episodes.category = watched.category
            and episodes.from_at <= watched.watched_to
            and episodes.high_to_at >= watched.watched_from
    where episodes.high_to_at >= episodes.from_at
),

merged as (
    {{ merged_intervals('line_days', keys) }}
),

sums as (
    select
        {{ grain }},
        cast(sum(
            case when bound = 'low' then floor({{ seconds_between('from_at', 'to_at') }}) else 0 end
        ) as bigint) as low_seconds,
        cast(sum(
            case when bound = 'high' then ceil({{ seconds_between('from_at', 'to_at') }}) else 0 end
        ) as bigint) as high_seconds
    from merged
    group by {{ grain }}
),

counts as (
    select
        {{ grain }},
        count(distinct episode_id) as n_episodes,
        max(ruleset_version) as ruleset_version
    from line_days
    group by {{ grain }}
)

select
    operator,
    service_date,
    category,
    event,
    nullif(line_number, '') as line_number,
    counts.n_episodes,
    sums.low_seconds,
    sums.high_seconds,
    sums.low_seconds / 60.0 as low_minutes,
    sums.high_seconds / 60.0 as high_minutes,
    counts.ruleset_version
from counts
inner join sums using ({{ grain }})
