{{ config(schema='intermediate', materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
-- One row per news item, episode that it may be about, line of the episode, and number in the item that may be it;
-- where the item has no such number, one row without.
with labels as (
    select distinct
        operator,
        episode_id,
        normal_label(named) as line_label
    from {{ ref('status_episode_lines') }}
    where line_code is not null or has_form(upper(trim(named)), line_label_form())
)

select
    pairs.operator,
    pairs.news_id,
    pairs.episode_id,
    labels.line_label,
    mentions.line_label as mention,
    coalesce(mentions.is_introduced, false) as is_introduced,
    -- the number itself counts more than that of the base line or of a slash variant, or one without an introduction
    case
        when mentions.line_label is null then 0.0
        when mentions.line_label != labels.line_label then 0.6
        when mentions.is_introduced then 1.0
        else 0.8
    end as named_share
from {{ ref('news_pairs') }} as pairs
inner join labels using (operator, episode_id)
left join {{ ref('news_mentions') }} as mentions
    on
        pairs.operator = mentions.operator
        and pairs.news_id = mentions.news_id
        and replace(mentions.line_label, '/', '') = replace(labels.line_label, '/', '')
