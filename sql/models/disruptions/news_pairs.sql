{{ config(schema='intermediate', materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
-- One row per news item and episode of the service status that lie near enough in time to be about each other, with how
-- near they are: by the publication of the item, and by the dates that it names.
with parameters as (
    select * from {{ ref('inference_parameters') }}
),

items as (
    select
        operator,
        news_id,
        coalesce(min(published_at), min(listed_from_before)) as published_at
    from {{ ref('news') }}
    group by operator, news_id
),

episodes as (
    select
        episodes.operator,
        episodes.episode_id,
        episodes.first_seen_at,
        least(coalesce(episodes.started_at, episodes.first_seen_at), episodes.first_seen_at) as from_at,
        coalesce(episodes.ended_before, cast('9999-12-01' as timestamp)) as to_at,
        cast(
            add_seconds(
                coalesce(episodes.started_at, episodes.first_seen_at),
                -seconds_between(cast(days.service_date as timestamp), days.zero_at)
            ) as date
        ) as start_date,
        cast(
            add_seconds(
                coalesce(episodes.ended_before, episodes.last_seen_at),
                -seconds_between(cast(days.service_date as timestamp), days.zero_at)
            ) as date
        ) as end_date,
        episodes.is_open
    from {{ ref('status_episodes') }} as episodes
    -- local time, by the service day in which it was first seen
    inner join {{ ref('service_days') }} as days
        on
            episodes.operator = days.operator
            and episodes.first_seen_at >= days.zero_at
            and episodes.first_seen_at < add_seconds(days.zero_at, 86400)
),

pairs as (
    select
        items.operator,
        items.news_id,
        episodes.episode_id,
        episodes.start_date,
        episodes.end_date,
        episodes.is_open,
        items.published_at > episodes.to_at as is_after,
        items.published_at between episodes.first_seen_at and episodes.to_at as is_during,
        -- hours from the publication to the start, or to the first answer with it, whichever is nearer
        case
            when items.published_at < episodes.from_at
                then seconds_between(items.published_at, episodes.from_at) / 3600
            when items.published_at > episodes.first_seen_at
                then seconds_between(episodes.first_seen_at, items.published_at) / 3600
            else 0
        end as hours_apart
    from items
    inner join episodes using (operator)
    cross join parameters
    where
        items.published_at >= add_seconds(episodes.from_at, -86400 * parameters.news_days_before)
        and items.published_at <= add_seconds(episodes.to_at, 86400 * parameters.news_days_after)
),

dates as (
    -- the year of a date without one is that in which it is nearest to the start
    select
        pairs.operator,
        pairs.news_id,
        pairs.episode_id,
        max(case when named.named_date = pairs.start_date then 1 else 0 end) = 1 as is_start_named,
        max(
            case
                when named.named_date between pairs.start_date and pairs.end_date then 0.8
                -- it may last until then
                when pairs.is_open and named.named_date >= pairs.start_date then 0.5
                else 0.0
            end
        ) as date_score
    from pairs
    inner join (
        select
            pairs_dates.operator,
            pairs_dates.news_id,
            pairs_dates.episode_id,
            try_cast(concat_ws(
                '-',
                cast(
                    year(pairs_dates.start_date)
                    + case
                        when mentions.named_month < month(pairs_dates.start_date) - 6 then 1
                        when mentions.named_month > month(pairs_dates.start_date) + 6 then -1
                        else 0
                    end as string
                ),
                lpad(cast(mentions.named_month as string), 2, '0'),
                lpad(cast(mentions.named_day as string), 2, '0')
            ) as date) as named_date
        from pairs as pairs_dates
        inner join {{ ref('news_mentions') }} as mentions using (operator, news_id)
        where mentions.named_day is not null
    ) as named using (operator, news_id, episode_id)
    group by pairs.operator, pairs.news_id, pairs.episode_id
)

select
    pairs.operator,
    pairs.news_id,
    pairs.episode_id,
    pairs.is_after,
    pairs.is_during,
    pairs.hours_apart,
    coalesce(dates.is_start_named, false) as is_start_named,
    dates.date_score
from pairs
left join dates using (operator, news_id, episode_id)
