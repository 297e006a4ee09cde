{{ config(materialized=inlined()) }}
-- One row per operator, stop and stretch of time in which good answers about the stop were at most coverage_gap_seconds
-- apart, around the service dates being built.
with polls as (
    select
        requests.operator,
        requests.key as stop_code,
        requests.request_id,
        requests.received_at,
        {{ seconds_between('lag(requests.received_at) over stop_polls', 'requests.received_at') }}
        > rules.coverage_gap_seconds as is_after_gap
    from {{ ref('staging_requests') }} as requests
    {{ join_rules('requests.service_date') }}
    where requests.endpoint = 'passages' and requests.is_good and {{ is_received_around('requests.received_date') }}
    window stop_polls as (
        partition by requests.operator, requests.key order by requests.received_at, requests.request_id
    )
),

stretches as (
    select
        *,
        count(case when is_after_gap then 1 end) over (
            partition by operator, stop_code order by received_at, request_id
            rows between unbounded preceding and current row
        ) as stretch_number
    from polls
)

select
    operator,
    stop_code,
    min(received_at) as polled_from,
    max(received_at) as polled_to
from stretches
group by operator, stop_code, stretch_number
