{{ config(materialized='ephemeral') }}
-- One row per operator, stop and stretch of time in which good answers about the stop were at most coverage_gap_seconds
-- apart, around the service dates being built.
with polls as (
    select
        requests.operator,
        requests.key as stop_code,
        requests.request_id,
        requests.received_at as polled_at,
        case
            when
                {{ seconds_between('lag(requests.received_at) over stop_polls', 'requests.received_at') }}
                > rules.coverage_gap_seconds
                then 1
            else 0
        end as is_after_gap
    from {{ ref('staging_requests') }} as requests
    {{ join_rules('requests.service_date') }}
    where requests.endpoint = 'passages' and requests.is_good and {{ is_received_around('requests.received_date') }}
    window stop_polls as (
        partition by requests.operator, requests.key order by requests.received_at, requests.request_id
    )
),

numbered as (
    select
        *,
        sum(is_after_gap) over (
            partition by operator, stop_code order by polled_at, request_id
            rows between unbounded preceding and current row
        ) as stretch_number
    from polls
)

select
    operator,
    stop_code,
    min(polled_at) as polled_from,
    max(polled_at) as polled_to
from numbered
group by operator, stop_code, stretch_number
