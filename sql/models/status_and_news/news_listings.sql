{{ config(incremental_strategy='validity') }}
-- One row per news item, title, publication and validity: its content in the news list, from when to when.
with listed as (
    select *
    from (
        select
            *,
            row_number() over (partition by operator, request_id, news_id order by row_number) as nth
        from {{ ref('staging_news') }}
        where news_id is not null and {{ is_continued() }}
    ) as numbered
    where nth = 1
),

{{ validity(good_answers('news', "''"), 'listed', ['news_id', 'title', 'published_at'], held="''") }}

select
    operator,
    news_id,
    title,
    published_at,
    valid_from,
    valid_to,
    is_current
from validity
