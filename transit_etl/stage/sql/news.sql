-- One row per item of the news list. `data_formattata` shows the instant of `data` again and is not kept.
create or replace temp table answers as
select operator, request_id, "window", received_at, as_list(try(body::json)) as items, len(items) as n_rows
from raw
where is_read;

with listed as (
    select * exclude (items, n_rows), unnest(range(1, n_rows + 1)) as row_number, unnest(items) as i
    from answers
)
select
    operator,
    request_id,
    "window",
    received_at,
    row_number,
    nullif(trim(as_text(i -> 'id')), '') as news_id,
    clean_text(as_text(i -> 'titolo')) as title,
    make_timestamp(instant_us(as_text(i -> 'data'))) as published_at,
    as_text(i -> 'data') as published_text,
    extra_text(left_over(i, map {
        'id': 'text', 'titolo': 'text', 'data': 'text', 'data_formattata': 'text'
    }, '')) as extra
from listed
order by received_at, request_id, row_number
