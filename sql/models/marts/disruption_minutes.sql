{{ config(materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
-- One row per operator, service_date, category, event and line number: how long it was disrupted, from the first to the
-- last status answer of the date. Overlapping episodes count once; an episode lasts at least until the last answer with
-- it, at most until the first later answer without it. Episodes that name no line are under a null line; one withdrawn
-- before it was to start took no time, and has no row.
with line_episodes as (
    select
        operator,
        episode_id,
        category,
        event,
        {{ each_of('lines') }} as line_number,
        coalesce(started_at, first_seen_at) as begins_at,
        ended_after,
        coalesce(ended_before, ended_after) as ends_before
    from {{ ref('disruptions') }}
    where coalesce(ended_before, ended_after) >= coalesce(started_at, first_seen_at)
),

line_days as (
    select
        line_episodes.operator,
        watched.service_date,
        line_episodes.category,
        line_episodes.event,
        coalesce(line_episodes.line_number, '') as line_number,
        line_episodes.episode_id,
        watched.ruleset_version,
        greatest(line_episodes.begins_at, watched.watched_from) as from_at,
        least(line_episodes.ended_after, watched.watched_to) as low_to_at,
        least(line_episodes.ends_before, watched.watched_to) as high_to_at
    from line_episodes
    inner join {{ ref('status_coverage') }} as watched
        on
            line_episodes.operator = watched.operator
            and line_episodes.category = watched.category
            and line_episodes.begins_at <= watched.watched_to
            and line_episodes.ends_before >= watched.watched_from
),

low as (
    select
        operator,
        service_date,
        category,
        event,
        line_number,
        from_at,
        low_to_at as to_at
    from line_days
    where low_to_at >= from_at
),

high as (
    select
        operator,
        service_date,
        category,
        event,
        line_number,
        from_at,
        high_to_at as to_at
    from line_days
),

merged as (
    select
        *,
        'low' as bound
    from (
        {{ merged_intervals('low', ['operator', 'service_date', 'category', 'event', 'line_number']) }}
    ) as low_union
    union all
    select
        *,
        'high' as bound
    from (
        {{ merged_intervals('high', ['operator', 'service_date', 'category', 'event', 'line_number']) }}
    ) as high_union
),

sums as (
    select
        operator,
        service_date,
        category,
        event,
        line_number,
        cast(coalesce(sum(
            case when bound = 'low' then floor({{ seconds_between('from_at', 'to_at') }}) end
        ), 0) as bigint) as low_seconds,
        cast(coalesce(sum(
            case when bound = 'high' then ceil({{ seconds_between('from_at', 'to_at') }}) end
        ), 0) as bigint) as high_seconds
    from merged
    group by operator, service_date, category, event, line_number
),

counts as (
    select
        operator,
        service_date,
        category,
        event,
        line_number,
        count(distinct episode_id) as n_episodes,
        max(ruleset_version) as ruleset_version
    from line_days
    group by operator, service_date, category, event, line_number
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
inner join sums using (operator, service_date, category, event, line_number)
