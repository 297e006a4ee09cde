{{ config(schema='core', materialized='table', meta={'reads_all_dates': 'a text counts beside all others'}) }}
-- One row per news item and episode of the service status that it is about, with score and evidence of the link.
-- An item may be about several episodes or about none. The score is the weighted sum of how far the item names the
-- lines or the plant of the episode, how near the times are, and how alike the texts are: the share of the episode's
-- words that the item has, each weighted by how rare it is among all texts. Of texts about a line that have few words
-- in common, it counts that both name the same kind of cause, or that the item tells of an event at all.
{%- set pair = "operator, news_id, episode_id" %}
with parameters as (
    select * from {{ ref('inference_parameters') }}
),

totals as (
    select
        operator,
        document_kind,
        document_id,
        {{ exact_sum('weight', 6) }} as total_weight,
        max(n_documents) as n_documents,
        max(case when concept_kind in ('cause', 'effect') then 1 else 0 end) = 1 as tells_of_event
    from {{ ref('news_terms') }}
    group by operator, document_kind, document_id
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
        items.published_at,
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
        max(case when named.named_date = pairs.start_date then 1 else 0 end) = 1 as names_start,
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
),

labels as (
    select distinct
        operator,
        episode_id,
        normal_label(named) as line_label
    from {{ ref('status_episode_lines') }}
    where line_code is not null or has_form(upper(trim(named)), line_label_form())
),

mentioned as (
    -- the lines of an episode, each with the numbers in an item that may be it, or with none
    select
        pairs.operator,
        pairs.news_id,
        pairs.episode_id,
        labels.line_label,
        mentions.line_label as mention,
        mentions.is_introduced
    from pairs
    inner join labels using (operator, episode_id)
    left join {{ ref('news_mentions') }} as mentions
        on
            pairs.operator = mentions.operator
            and pairs.news_id = mentions.news_id
            and replace(mentions.line_label, '/', '') = replace(labels.line_label, '/', '')
),

named_lines as (
    -- the number itself counts more than that of the base line or of a slash variant, or one without an introduction
    select
        {{ pair }},
        line_label,
        max(
            case
                when mention is null then 0.0
                when mention != line_label then 0.6
                when is_introduced then 1.0
                else 0.8
            end
        ) as named_share
    from mentioned
    group by {{ pair }}, line_label
),

line_shares as (
    select
        {{ pair }},
        avg(named_share) as named_share
    from named_lines
    group by {{ pair }}
),

lines_found as (
    select
        {{ pair }},
        array_sort(collect_set(line_label)) as lines_named
    from named_lines
    where named_share > 0
    group by {{ pair }}
),

introductions as (
    select
        operator,
        news_id,
        count(*) as n_introduced
    from {{ ref('news_mentions') }}
    where is_introduced
    group by operator, news_id
),

own_introductions as (
    -- of the lines that an item introduces, those of an episode
    select
        {{ pair }},
        count(distinct mention) as n_introduced
    from mentioned
    where is_introduced
    group by {{ pair }}
),

shared_terms as (
    select
        pairs.operator,
        pairs.news_id,
        pairs.episode_id,
        theirs.document_kind,
        theirs.term,
        theirs.weight,
        theirs.concept_kind
    from pairs
    inner join {{ ref('news_terms') }} as theirs
        on
            pairs.operator = theirs.operator
            and pairs.episode_id = theirs.document_id
            and theirs.document_kind in ('episode', 'name')
    inner join {{ ref('news_terms') }} as ours
        on
            pairs.operator = ours.operator
            and pairs.news_id = ours.document_id
            and ours.document_kind = 'news'
            and theirs.term = ours.term
),

shared as (
    select
        {{ pair }},
        document_kind,
        {{ exact_sum('weight', 6) }} as shared_weight,
        max(case when concept_kind = 'cause' then 1 else 0 end) = 1 as is_cause_shared,
        array_sort(collect_set(term)) as shared_terms
    from shared_terms
    group by {{ pair }}, document_kind
),

evidence as (
    select
        pairs.operator,
        pairs.news_id,
        pairs.episode_id,
        pairs.hours_apart,
        lines_found.lines_named,
        case
            when line_shares.episode_id is not null
                then greatest(
                    -- all lines of the episode are named, or all lines that are named are of the episode
                    line_shares.named_share,
                    parameters.news_some_lines_share
                    * coalesce(own_introductions.n_introduced, 0) / coalesce(introductions.n_introduced, 1)
                )
            else coalesce(name_shared.shared_weight, 0) / names.total_weight
        end as line_score,
        case
            when dates.names_start then 1.0
            when dates.episode_id is not null then dates.date_score
            else
                greatest(
                    case when pairs.is_after then parameters.news_half_share else 1.0 end
                    / (1 + pairs.hours_apart / parameters.news_near_hours),
                    case
                        when pairs.is_during and line_shares.episode_id is not null and texts.is_cause_shared
                            then parameters.news_during_score
                        else 0.0
                    end
                )
        end as time_score,
        dates.episode_id is not null as is_date_named,
        greatest(
            least(
                1.0,
                coalesce(texts.shared_weight, 0) / greatest(
                    parameters.news_enough_share * coalesce(text_totals.total_weight, 0),
                    parameters.news_enough_words * ln(1 + item_totals.n_documents / 2.0)
                )
            ),
            case
                when line_shares.episode_id is null then 0.0
                when texts.is_cause_shared then parameters.news_half_share
                when item_totals.tells_of_event then parameters.news_any_event_score
                else 0.0
            end
        ) as text_score,
        texts.shared_terms,
        parameters.news_line_weight,
        parameters.news_half_share,
        parameters.news_time_weight,
        parameters.news_least_score,
        parameters.news_score_margin
    from pairs
    cross join parameters
    left join dates using (operator, news_id, episode_id)
    left join line_shares using (operator, news_id, episode_id)
    left join lines_found using (operator, news_id, episode_id)
    left join introductions using (operator, news_id)
    left join own_introductions using (operator, news_id, episode_id)
    left join shared as texts
        on
            pairs.operator = texts.operator
            and pairs.news_id = texts.news_id
            and pairs.episode_id = texts.episode_id
            and texts.document_kind = 'episode'
    left join shared as name_shared
        on
            pairs.operator = name_shared.operator
            and pairs.news_id = name_shared.news_id
            and pairs.episode_id = name_shared.episode_id
            and name_shared.document_kind = 'name'
    left join totals as names
        on
            pairs.operator = names.operator
            and pairs.episode_id = names.document_id
            and names.document_kind = 'name'
    left join totals as item_totals
        on
            pairs.operator = item_totals.operator
            and pairs.news_id = item_totals.document_id
            and item_totals.document_kind = 'news'
    left join totals as text_totals
        on
            pairs.operator = text_totals.operator
            and pairs.episode_id = text_totals.document_id
            and text_totals.document_kind = 'episode'
    where
        -- an item that names other lines, or other dates, is about something else
        (line_shares.episode_id is null or line_shares.named_share > 0 or introductions.n_introduced is null)
        and coalesce(dates.date_score, 1) > 0
),

scored as (
    select
        *,
        news_line_weight * coalesce(line_score, news_half_share) + news_time_weight * time_score
        + (1 - news_line_weight - news_time_weight) * text_score as score
    from evidence
),

compared as (
    -- with what an episode competes for an item: the lines that it names, and for each line the causes that it tells
    select
        {{ pair }},
        replace(line_label, '/', '') as line_label,
        '' as cause
    from named_lines
    where named_share > 0
    union all
    select
        {{ pair }},
        replace(named_lines.line_label, '/', '') as line_label,
        shared_terms.term as cause
    from named_lines
    inner join shared_terms using ({{ pair }})
    where
        named_lines.named_share > 0
        and shared_terms.document_kind = 'episode'
        and shared_terms.concept_kind = 'cause'
),

rivals as (
    select
        scored.operator,
        scored.news_id,
        scored.episode_id,
        scored.score,
        max(scored.score) over (
            partition by
                scored.operator, scored.news_id, coalesce(compared.line_label, ''), coalesce(compared.cause, '')
        ) as best_score
    from scored
    left join compared using ({{ pair }})
),

best as (
    select
        {{ pair }},
        min(best_score - score) as behind
    from rivals
    group by {{ pair }}
)

select
    scored.operator,
    scored.news_id,
    scored.episode_id,
    scored.score,
    scored.line_score,
    scored.time_score,
    scored.text_score,
    scored.lines_named,
    scored.hours_apart,
    scored.is_date_named,
    scored.shared_terms
from scored
inner join best using (operator, news_id, episode_id)
where scored.score >= scored.news_least_score and best.behind <= scored.news_score_margin
