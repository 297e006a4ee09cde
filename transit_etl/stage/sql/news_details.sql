-- One row per answer to a news item.
create or replace temp table answers as
select
    operator, request_id, "window", received_at, "key" as news_id, try(body::json) as b,
    case when json_type(b) = 'OBJECT' then 1::bigint end as n_rows
from raw
where is_read;

select
    operator,
    request_id,
    "window",
    received_at,
    news_id,
    clean_text(as_text(b -> 'titolo')) as title,
    as_text(b -> 'contenuto') as content,
    try_cast(trim(as_text(b -> 'data')) as date) as published_date,
    extra_text(
        left_over(b, map {'titolo': 'text', 'contenuto': 'text', 'data': 'text'}, '')
        || odd_member(
            as_text(b -> 'data') is not null and try_cast(trim(as_text(b -> 'data')) as date) is null,
            'data', b -> 'data'
        )
    ) as extra
from answers
where n_rows = 1
order by received_at, request_id
