-- One row per operator, service_date and category: how well the service status was polled for it. An answer to a
-- request for all categories counts for each of them; one that does not prove what it leaves out for none.
with polls as (
    select *
    from {{ ref('answer_evidence') }}
    where endpoint = 'status' and evidence = 'complete' and {{ is_built() }} and {{ is_received_around() }}
),

categories as (
    select
        polls.operator,
        meanings.category
    from polls
    cross join {{ ref('category_meanings') }} as meanings
    union
    select
        operator,
        category
    from {{ ref('status_listings') }}
    where category is not null and {{ is_received_around() }}
),

answers as (
    select
        polls.operator,
        polls.service_date,
        categories.category,
        polls.received_at,
        seconds_between(lag(polls.received_at) over category_day, polls.received_at) as gap_seconds
    from polls
    inner join categories on polls.operator = categories.operator and polls.key in ('', categories.category)
    window category_day as (
        partition by polls.operator, polls.service_date, categories.category
        order by polls.received_at, polls.request_id
    )
)

select
    operator,
    service_date,
    category,
    count(*) as n_answers,
    min(received_at) as watched_from,
    max(received_at) as watched_to,
    cast(coalesce(max(ceil(gap_seconds)), 0) as bigint) as longest_gap_seconds,
    cast(floor({{ rounded(
        "sum(case when gap_seconds <= rules.coverage_gap_seconds then gap_seconds else 0 end)", 3
    ) }}) as bigint) as covered_seconds,
    max(rules.ruleset_version) as ruleset_version
from answers
{{ join_rules('service_date') }}
group by operator, service_date, category
