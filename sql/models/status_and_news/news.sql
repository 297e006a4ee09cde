{{ config(schema='core', materialized='table', meta={'reads_all_dates': 'an item may be listed for many days'}) }}
-- One row per news item and version: the item as the list and its full text gave it, from when to when.
-- An item ends with the first later answer that may stand for the list (answer_evidence) and is without it: a failed
-- answer, one that lost rows to quarantine, or one that is suddenly short ends none.
{%- set item = "operator, news_id" %}
with runs as (
    select
        *,
        row_number() over item as run_number,
        lead(first_seen_at) over item as next_seen_at
    from {{ ref('news_listings') }}
    window item as (partition by {{ item }} order by first_seen_at, last_seen_at, title, published_at)
),

answers as (
    select * from {{ good_answers('news', "''", received='true') }}
),

timeline as (
    -- at the same instant an answer comes after the start of what it lists and before the end
    select
        {{ item }},
        run_number,
        first_seen_at as event_at,
        0 as place
    from runs
    union all
    select
        {{ item }},
        run_number,
        last_seen_at as event_at,
        2 as place
    from runs
    union all
    select
        operator,
        null as news_id,
        null as run_number,
        received_at as event_at,
        1 as place
    from answers
),

surroundings as (
    select
        *,
        max(case when place = 1 then event_at end) over (
            partition by operator order by event_at, place rows between unbounded preceding and 1 preceding
        ) as answer_before_at,
        min(case when place = 1 then event_at end) over (
            partition by operator order by event_at, place rows between 1 following and unbounded following
        ) as answer_after_at
    from timeline
),

bounded as (
    select
        runs.*,
        starts.answer_before_at as listed_from_after,
        ends.answer_after_at as gone_at,
        ends.answer_after_at is not null and coalesce(runs.next_seen_at > ends.answer_after_at, true) as is_gone
    from runs
    inner join surroundings as starts
        on
            runs.operator = starts.operator
            and runs.news_id = starts.news_id
            and runs.run_number = starts.run_number
            and starts.place = 0
    inner join surroundings as ends
        on
            runs.operator = ends.operator
            and runs.news_id = ends.news_id
            and runs.run_number = ends.run_number
            and ends.place = 2
),

steps as (
    select
        *,
        case when lag(is_gone) over item then 1 else 0 end as is_new_period,
        lag(title) over item as title_before,
        lag(published_at) over item as published_before
    from bounded
    window item as (partition by {{ item }} order by run_number)
),

numbered as (
    select
        *,
        sum(is_new_period) over item as period_number,
        sum(
            case
                when
                    is_new_period = 1
                    or title is distinct from title_before
                    or published_at is distinct from published_before
                    then 1
                else 0
            end
        ) over item as listing_number
    from steps
    window item as (partition by {{ item }} order by run_number rows between unbounded preceding and current row)
),

periods as (
    select
        {{ item }},
        period_number,
        max(case when from_first = 1 then listed_from_after end) as listed_from_after,
        min(first_seen_at) as listed_from_before,
        max(last_seen_at) as listed_to_after,
        max(case when is_gone then gone_at end) as listed_to_before
    from (
        select
            *,
            row_number() over (partition by {{ item }}, period_number order by run_number) as from_first
        from numbered
    ) as runs_of_periods
    group by {{ item }}, period_number
),

listings as (
    select
        {{ item }},
        period_number,
        listing_number,
        title,
        published_at,
        min(first_seen_at) as valid_from,
        lag(max(last_seen_at)) over listings_of_period as edited_after,
        lead(min(first_seen_at)) over listings_of_period as next_from
    from numbered
    group by {{ item }}, period_number, listing_number, title, published_at
    window listings_of_period as (partition by {{ item }}, period_number order by listing_number)
),

text_steps as (
    select
        *,
        lag(content) over item as content_before,
        lag(published_date) over item as published_before
    from {{ ref('news_texts') }}
    window item as (partition by {{ item }} order by first_seen_at, last_seen_at)
),

text_numbers as (
    select
        *,
        sum(
            case
                when
                    content is distinct from content_before
                    or published_date is distinct from published_before
                    then 1
                else 0
            end
        ) over (
            partition by {{ item }} order by first_seen_at, last_seen_at
            rows between unbounded preceding and current row
        ) as text_number
    from text_steps
),

texts as (
    select
        {{ item }},
        text_number,
        content,
        published_date,
        min(first_seen_at) as first_seen_at,
        lag(max(last_seen_at)) over texts_of_item as edited_after
    from text_numbers
    group by {{ item }}, text_number, content, published_date
    window texts_of_item as (partition by {{ item }} order by text_number)
),

-- Nobody looked at the text between the last answer with the old one and the first with the new one: if the list
-- changed the item in this time, both are one edit.
dated_texts as (
    select
        texts.operator,
        texts.news_id,
        texts.text_number,
        texts.content,
        texts.published_date,
        texts.edited_after,
        coalesce(max(listings.valid_from), texts.first_seen_at) as text_from
    from texts
    left join listings
        on
            texts.operator = listings.operator
            and texts.news_id = listings.news_id
            and texts.edited_after < listings.valid_from
            and texts.first_seen_at >= listings.valid_from
    group by
        texts.operator, texts.news_id, texts.text_number, texts.content, texts.published_date, texts.edited_after,
        texts.first_seen_at
),

text_validities as (
    -- the first text known also counts for the time before it
    select
        *,
        case when edited_after is null then cast('0001-01-01' as timestamp) else text_from end as valid_from,
        lead(text_from) over (partition by {{ item }} order by text_number) as valid_to
    from dated_texts
),

versions as (
    select
        listings.operator,
        listings.news_id,
        listings.title,
        listings.published_at,
        texts.published_date,
        texts.content,
        greatest(listings.valid_from, texts.valid_from) as valid_from,
        least(coalesce(listings.next_from, periods.listed_to_before), texts.valid_to) as valid_to,
        case
            when texts.valid_from > listings.valid_from then texts.edited_after else listings.edited_after
        end as edited_after,
        periods.listed_from_after,
        periods.listed_from_before,
        periods.listed_to_after,
        periods.listed_to_before
    from listings
    inner join periods using (operator, news_id, period_number)
    left join text_validities as texts
        on
            listings.operator = texts.operator
            and listings.news_id = texts.news_id
            and coalesce(texts.valid_from < coalesce(listings.next_from, periods.listed_to_before), true)
            and coalesce(texts.valid_to > listings.valid_from, true)
)

select
    operator,
    news_id,
    row_number() over (partition by {{ item }} order by valid_from) as version_number,
    title,
    published_at,
    published_date,
    content,
    edited_after,
    valid_from,
    valid_to,
    valid_to is null as is_current,
    listed_from_after,
    listed_from_before,
    listed_to_after,
    listed_to_before
from versions
-- of answers received at one instant the last counts
where coalesce(valid_to > valid_from, true)
