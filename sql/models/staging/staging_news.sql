-- One row per item listed in an answer to the news list.
select
    operator,
    request_id,
    {{ adapter.quote("window") }},
    received_at,
    row_number,
    news_id,
    title,
    published_at,
    published_text,
    extra,
    try_cast(date as date) as received_date
from {{ lake('news') }}
