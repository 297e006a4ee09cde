-- One row per operator, service_date and category: how well the service status was polled for it.
-- An answer to a request for all categories counts for each of them.
with answers as (
    select
        requests.operator,
        requests.service_date,
        categories.category,
        requests.received_at,
        lag(requests.received_at) over (
            partition by requests.operator, requests.service_date, categories.category
            order by requests.received_at, requests.request_id
        ) as previous_at
    from {{ built('requests') }} as requests
    inner join {{ ref('category_meanings') }} as categories
        on requests.key in ('', categories.category)
    where requests.endpoint = 'status' and requests.is_good
)

select
    answers.operator,
    answers.service_date,
    answers.category,
    count(*) as n_answers,
    min(answers.received_at) as watched_from,
    max(answers.received_at) as watched_to,
    cast(coalesce(max(ceil({{ seconds_between('answers.previous_at', 'answers.received_at') }})), 0) as bigint)
        as longest_gap_seconds,
    cast(floor(round(coalesce(sum(
        case
            when {{ seconds_between('answers.previous_at', 'answers.received_at') }} <= rules.coverage_gap_seconds
                then {{ seconds_between('answers.previous_at', 'answers.received_at') }}
        end
    ), 0), 3)) as bigint) as covered_seconds,
    max(rules.ruleset_version) as ruleset_version
from answers
{{ join_rules('answers.service_date') }}
group by answers.operator, answers.service_date, answers.category
