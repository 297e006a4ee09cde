{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, UTC day of receipt, news item, full text and run: consecutive answers to the item with this
-- text. An answer without a text says nothing about it.
with answers as (
    select
        *,
        row_number() over (
            partition by operator, received_date, news_id order by received_at, request_id
        ) as answer_number
    from {{ ref('staging_news_details') }}
    where trim(content) != '' and {{ is_received_around() }}
),

numbered as (
    select
        *,
        answer_number - row_number() over (
            partition by operator, received_date, news_id, content, published_date order by answer_number
        ) as run_number
    from answers
)

select
    operator,
    received_date,
    news_id,
    content,
    published_date,
    min(received_at) as first_seen_at,
    max(received_at) as last_seen_at
from numbered
group by operator, received_date, news_id, content, published_date, run_number
