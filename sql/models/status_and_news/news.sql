{{ config(schema='core', materialized='table') }}
-- One row per news item and version: the item as the list and its full text gave it, from when to when.
with texts as (
    -- each change of the full text starts a version; the first one known also counts for the time before it
    select
        operator,
        news_id,
        content,
        published_date,
        case
            when row_number() over (partition by operator, news_id order by valid_from) = 1
                then cast('0001-01-01' as timestamp)
            else valid_from
        end as text_from,
        valid_to as text_to
    from {{ ref('news_texts') }}
)

select
    listings.operator,
    listings.news_id,
    row_number() over (
        partition by listings.operator, listings.news_id order by greatest(listings.valid_from, texts.text_from)
    ) as version_number,
    listings.title,
    listings.published_at,
    texts.published_date,
    texts.content,
    greatest(listings.valid_from, texts.text_from) as valid_from,
    least(listings.valid_to, texts.text_to) as valid_to,
    listings.valid_to is null and texts.text_to is null as is_current
from {{ ref('news_listings') }} as listings
left join texts
    on
        listings.operator = texts.operator
        and listings.news_id = texts.news_id
        and coalesce(texts.text_from < listings.valid_to, true)
        and coalesce(texts.text_to > listings.valid_from, true)
