{{ config(schema='core', materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
-- One row per episode, name it gives among its lines, and line of that name: the lines it is about. A name that is no
-- line known then (a lift, a mistyped number) has one row without a line.
-- A name is a line's number (leading zeros and case do not count) or code. Where there is none of that number, `17/` is
-- also line 17 (`base_line`), and `17` is also line 17/ (`slash_variant`).
-- A name is of plant by its category, or, where the category leaves that open, if the episode names a text and no line.
{%- set named = "normal_label(names.named)" %}
{%- set number = "normal_label(lines.line_number)" %}
with names as (
    select
        episode_id,
        operator,
        category,
        named,
        max(case when lines_kind = 'text' then 1 else 0 end) as is_text,
        min(first_seen_at) as named_from,
        max(last_seen_at) as named_to
    from (
        select
            *,
            {{ each_of("names") }} as named
        from (
            select
                *,
                names_in(lines) as names
            from {{ ref('status_chains') }}
        ) as chains
    ) as listings
    where named is not null and named != ''
    group by episode_id, operator, category, named
),

lines as (
    select
        operator,
        line_code,
        line_number,
        -- a line was there before it was first listed to us
        case
            when row_number() over (partition by operator, line_code order by valid_from) = 1
                then cast('0001-01-01' as timestamp)
            else valid_from
        end as known_from,
        valid_to
    from {{ ref('lines') }}
),

matches as (
    select
        names.episode_id,
        names.named,
        lines.line_code,
        case
            when {{ number }} = {{ named }} or lines.line_code = upper(names.named) then 1
            when {{ number }} || '/' = {{ named }} then 2
            when {{ number }} = {{ named }} || '/' then 3
        end as match_rank
    from names
    left join {{ ref('category_meanings') }} as categories using (category)
    inner join lines
        on
            names.operator = lines.operator
            and lines.known_from <= names.named_to
            and coalesce(lines.valid_to > names.named_from, true)
    where not coalesce(categories.is_plant, false)
),

best as (
    select distinct
        episode_id,
        named,
        line_code,
        match_rank
    from (
        select
            *,
            min(match_rank) over (partition by episode_id, named) as best_rank
        from matches
        where match_rank is not null
    ) as ranked
    where match_rank = best_rank
)

select
    names.episode_id,
    names.operator,
    names.named,
    best.line_code,
    case best.match_rank when 1 then 'number' when 2 then 'base_line' when 3 then 'slash_variant' end as matched_by,
    coalesce(
        categories.is_plant,
        max(names.is_text) over one_episode = 1 and count(best.line_code) over one_episode = 0
    ) as is_plant,
    names.named_from,
    names.named_to
from names
left join best using (episode_id, named)
left join {{ ref('category_meanings') }} as categories on names.category = categories.category
window one_episode as (partition by names.episode_id)
