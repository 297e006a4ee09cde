{{ config(materialized='table') }}
-- One row per news item and version: what the list and the full text said of it, from when to when.
with answers as (
    select
        operator,
        '' as stream,
        request_id,
        received_at
    from {{ ref('staging_requests') }}
    where endpoint = 'news' and is_good
),

listed as (
    select *
    from (
        select
            *,
            row_number() over (partition by operator, request_id, news_id order by row_number) as nth
        from {{ ref('staging_news') }}
        where news_id is not null
    ) as numbered
    where nth = 1
),

{{ validity('answers', 'listed', ['news_id', 'title', 'published_at']) }},

texts as (
    -- each change of the full text starts a version; the first one known also speaks for the time before it
    select
        operator,
        news_id,
        content,
        published_date,
        case
            when row_number() over item = 1 then cast('0001-01-01' as timestamp)
            else received_at
        end as text_from,
        lead(received_at) over item as text_to
    from (
        select
            *,
            lag(content) over (partition by operator, news_id order by received_at, request_id) as previous_content,
            row_number() over (partition by operator, news_id order by received_at, request_id) as nth
        from {{ ref('staging_news_details') }}
    ) as details
    where nth = 1 or content is distinct from previous_content
    window item as (partition by operator, news_id order by received_at, request_id)
)

select
    validity.operator,
    validity.news_id,
    row_number() over (
        partition by validity.operator, validity.news_id order by greatest(validity.valid_from, texts.text_from)
    ) as version_number,
    validity.title,
    validity.published_at,
    texts.published_date,
    texts.content,
    greatest(validity.valid_from, texts.text_from) as valid_from,
    least(validity.valid_to, texts.text_to) as valid_to,
    validity.valid_to is null and texts.text_to is null as is_current
from validity
left join texts
    on
        validity.operator = texts.operator
        and validity.news_id = texts.news_id
        and coalesce(texts.text_from < validity.valid_to, true)
        and coalesce(texts.text_to > validity.valid_from, true)
