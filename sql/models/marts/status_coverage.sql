-- One row per operator, service_date and category: how well the service status was polled for it.
-- An answer to a request for all categories counts for each of them.
with answers as (
    select
        requests.operator,
        requests.service_date,
        categories.category,
        requests.received_at,
        {{ seconds_between('lag(requests.received_at) over category_day', 'requests.received_at') }} as gap_seconds
    from {{ built('requests') }} as requests
    inner join {{ ref('category_meanings') }} as categories on requests.key in ('', categories.category)
    where requests.endpoint = 'status' and requests.is_good
    window category_day as (
        partition by requests.operator, requests.service_date, categories.category
        order by requests.received_at, requests.request_id
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
    cast(floor(round(sum(
        case when gap_seconds <= rules.coverage_gap_seconds then gap_seconds else 0 end
    ), 3)) as bigint) as covered_seconds,
    max(rules.ruleset_version) as ruleset_version
from answers
{{ join_rules('service_date') }}
group by operator, service_date, category
