{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, UTC day of receipt, news item, title, publication and run: consecutive good answers to the list
-- of news that list the item so.
with answers as (
    select
        *,
        row_number() over (partition by operator, received_date order by received_at, request_id) as answer_number
    from {{ ref('answer_evidence') }}
    where endpoint = 'news' and {{ is_received_around() }}
),

items as (
    select * from {{ ref('staging_news') }}
    where news_id is not null and {{ is_received_around() }}
),

listed as (
    select
        answers.operator,
        answers.received_date,
        answers.received_at,
        items.news_id,
        items.title,
        items.published_at,
        answers.answer_number - row_number() over (
            partition by answers.operator, answers.received_date, items.news_id, items.title, items.published_at
            order by answers.answer_number
        ) as run_number
    from {{ first_rows('items', ['operator', 'request_id', 'news_id'], 'row_number') }} as items
    inner join answers using (operator, request_id)
)

select
    operator,
    received_date,
    news_id,
    title,
    published_at,
    min(received_at) as first_seen_at,
    max(received_at) as last_seen_at
from listed
group by operator, received_date, news_id, title, published_at, run_number
