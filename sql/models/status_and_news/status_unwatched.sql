{{ config(materialized='view') }}
-- One row per operator, category asked for ('' for all) and stretch of time in which the service status was not
-- watched: no two complete answers are at most `coverage_gap_seconds` apart. From long before the first answer, and to
-- long after the last.
with days as (
    select
        operator,
        category_asked,
        first_answer_at,
        last_answer_at,
        lead(first_answer_at) over one_category as next_answer_at,
        row_number() over one_category as nth,
        received_date
    from {{ ref('status_answers') }}
    where n_unread = 0
    window one_category as (partition by operator, category_asked order by received_date)
)

select
    operator,
    category_asked,
    gap_from as from_at,
    gap_to as to_at
from {{ ref('status_gaps') }}
union all
select
    days.operator,
    days.category_asked,
    days.last_answer_at as from_at,
    coalesce(days.next_answer_at, timestamp '9999-12-31') as to_at
from days
{{ join_rules('days.received_date') }}
where
    coalesce(seconds_between(days.last_answer_at, days.next_answer_at) > rules.coverage_gap_seconds, true)
union all
select
    operator,
    category_asked,
    timestamp '0001-01-01' as from_at,
    first_answer_at as to_at
from days
where nth = 1
