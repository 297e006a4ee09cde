{{ config(materialized='table', meta={'reads_all_dates': 'an item may be listed for many days'}) }}
-- One row per news item and line number or date (month and day) that its title or text names, in any version.
-- A number in a list after a word such as `linee` is introduced as a line. Any other number may be one, unless it is
-- part of a date, a time, a quantity or an address.
with words as (
    select
        words.operator,
        words.document_id as news_id,
        words.version_number,
        words.position,
        words.word,
        meanings.meaning,
        meanings.month,
        has_form(words.word, line_label_form()) as is_label,
        has_form(words.word, '[0-9]{1,2}') as is_number,
        has_form(words.word, '[0-9]{1,2}/[0-9]{1,2}(/[0-9]{2,4})?') as is_date
    from {{ ref('document_words') }} as words
    left join {{ ref('news_words') }} as meanings on words.word = meanings.word
    where words.document_kind = 'news'
),

contexts as (
    select
        *,
        lag(meaning) over item_words as meaning_before,
        lead(meaning) over item_words as meaning_after,
        -- of `9` in `9 marzo`, `9 e 10 marzo` and `9 al 15 marzo`
        coalesce(
            lead(month) over item_words,
            case when lead(is_number, 2) over item_words then lead(month, 3) over item_words end
        ) as month_after,
        max(case when meaning = 'line' then position end) over words_before as line_position,
        max(case when not is_label and coalesce(meaning, '') not in ('line', 'joiner') then position end)
            over words_before as other_position,
        max(case when meaning = 'street' then position end) over (
            partition by operator, news_id, version_number order by position rows between 4 preceding and 1 preceding
        ) as street_position
    from words
    window
        item_words as (partition by operator, news_id, version_number order by position),
        words_before as (
            partition by operator, news_id, version_number order by position
            rows between unbounded preceding and 1 preceding
        )
),

mentions as (
    select
        operator,
        news_id,
        case when not is_day then normal_label(word) end as line_label,
        line_position > coalesce(other_position, 0) as is_introduced,
        case
            when is_date then try_cast(split_part(word, '/', 2) as integer)
            when is_day then month_after
        end as named_month,
        case
            when is_date then try_cast(split_part(word, '/', 1) as integer)
            when is_day then try_cast(word as integer)
        end as named_day
    from (
        select
            *,
            is_date or is_number and (month_after is not null or coalesce(meaning_before = 'weekday', false)) as is_day
        from contexts
    ) as days
    where
        is_day
        or is_label
        and (
            line_position > coalesce(other_position, 0)
            or coalesce(meaning_after, '') != 'unit'
            and coalesce(meaning_before, '') != 'clock'
            -- `via Cantore 18` is an address, `in via Cantore il 18` is none
            and (street_position is null or meaning_before = 'filler')
        )
)

select
    operator,
    news_id,
    line_label,
    case when line_label is not null then max(case when is_introduced then 1 else 0 end) = 1 end as is_introduced,
    case when named_day between 1 and 31 and named_month between 1 and 12 then named_month end as named_month,
    case when named_day between 1 and 31 and named_month between 1 and 12 then named_day end as named_day
from mentions
where line_label is not null or (named_day between 1 and 31 and named_month between 1 and 12)
group by operator, news_id, line_label, named_month, named_day
