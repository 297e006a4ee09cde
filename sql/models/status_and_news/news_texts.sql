{{ config(incremental_strategy='validity') }}
-- One row per news item, full text and validity: its full text, from when to when.
with texts as (
    select
        operator,
        news_id,
        request_id,
        received_at,
        content,
        published_date
    from {{ ref('staging_news_details') }}
    where {{ is_continued() }}
),

answers as (
    select
        operator,
        news_id as stream,
        request_id,
        received_at
    from texts
),

{{ validity('answers', 'texts', ['news_id', 'content', 'published_date'], held='news_id') }}

select
    operator,
    news_id,
    content,
    published_date,
    valid_from,
    valid_to,
    is_current
from validity
