{{ config(materialized='table') }}
-- One row per operator, service_date, category, event and line number: how long the operator called it disrupted.
-- Within the time the service status was watched that day, the union of its episodes: low while they were listed, high
-- until they were seen listed no more. Under a null line stands what names no line.
with listed as (
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
),

days as (
    select
        listed.operator,
        watched.service_date,
        listed.category,
        listed.event,
        coalesce(listed.line_number, '') as line_number,
        listed.episode_id,
        watched.ruleset_version,
        greatest(listed.begins_at, watched.watched_from) as from_at,
        least(listed.ended_after, watched.watched_to) as low_to_at,
        least(listed.ends_before, watched.watched_to) as high_to_at
    from listed
    inner join {{ ref('status_coverage') }} as watched
        on
            listed.operator = watched.operator
            and listed.category = watched.category
            and listed.begins_at <= watched.watched_to
            and listed.ends_before >= watched.watched_from
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
    from days
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
    from days
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

episodes as (
    select
        operator,
        service_date,
        category,
        event,
        line_number,
        count(distinct episode_id) as n_episodes,
        max(ruleset_version) as ruleset_version
    from days
    group by operator, service_date, category, event, line_number
)

select
    episodes.operator,
    episodes.service_date,
    episodes.category,
    episodes.event,
    nullif(episodes.line_number, '') as line_number,
    episodes.n_episodes,
    sums.low_seconds,
    sums.high_seconds,
    sums.low_seconds / 60.0 as low_minutes,
    sums.high_seconds / 60.0 as high_minutes,
    episodes.ruleset_version
from episodes
inner join sums
    on
        episodes.operator = sums.operator
        and episodes.service_date = sums.service_date
        and episodes.category = sums.category
        and episodes.event = sums.event
        and episodes.line_number = sums.line_number
