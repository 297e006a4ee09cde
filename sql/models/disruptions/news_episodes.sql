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

named_lines as (
    select
        {{ pair }},
        line_label,
        max(named_share) as named_share
    from {{ ref('news_pair_lines') }}
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
    from {{ ref('news_pair_lines') }}
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
    from {{ ref('news_pairs') }} as pairs
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
            when pairs.is_start_named then 1.0
            when pairs.date_score is not null then pairs.date_score
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
        pairs.date_score is not null as is_date_named,
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
    from {{ ref('news_pairs') }} as pairs
    cross join parameters
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
        and coalesce(pairs.date_score, 1) > 0
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
