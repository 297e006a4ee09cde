{{ config(schema='core', materialized='table', meta={'reads_all_dates': 'an event may be listed for many days'}) }}
-- One row per episode and version: what the service status said of it, from when to when. An edit happened after
-- `valid_after` (the last answer in the words before) and at `valid_from` at the latest.
with numbered as (
    select
        *,
        sum(is_edit) over (
            partition by episode_id order by version_number rows between unbounded preceding and current row
        ) as edit_number
    from (
        select
            *,
            case
                when
                    listing_key = lag(listing_key) over (partition by episode_id order by version_number)
                    then 0
                else 1
            end as is_edit
        from {{ ref('status_chains') }}
    ) as listings
),

versions as (
    select
        *,
        min(version_number) over (partition by episode_id, edit_number) as first_number,
        max(version_number) over (partition by episode_id, edit_number) as last_number
    from numbered
)

select
    episode_id,
    operator,
    cast(edit_number as bigint) as version_number,
    max(case when version_number = first_number then coalesce(previous_seen_at, absent_before_at) end) as valid_after,
    min(first_seen_at) as valid_from,
    max(last_seen_at) as last_seen_at,
    max(case when version_number = last_number then coalesce(next_seen_at, absent_after_at) end) as valid_to,
    category,
    event,
    {{ value_at_least('lines', 'version_number') }} as lines,
    lines_text,
    cause,
    message,
    min(started_at) as started_at,
    started_text,
    cast(sum(n_answers) as bigint) as n_answers
from versions
group by episode_id, operator, edit_number, category, event, lines_text, cause, message, started_text
