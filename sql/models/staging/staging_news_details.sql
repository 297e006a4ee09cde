-- One row per answer to the full text of a news item.
select
    operator,
    request_id,
    {{ adapter.quote("window") }},
    received_at,
    news_id,
    title,
    content,
    published_date,
    extra,
    try_cast(date as date) as received_date
from {{ lake('news_details') }}
