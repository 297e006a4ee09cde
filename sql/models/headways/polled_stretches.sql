{{ config(materialized=inlined()) }}
-- One row per operator, stop and stretch of time in which answers about the stop that prove something were at most
-- coverage_gap_seconds apart, around the service dates being built.
with polls as (
    select
        polls.*,
        seconds_between(lag(polls.received_at) over one_stop, polls.received_at)
        > rules.coverage_gap_seconds as is_after_gap
    from {{ ref('stop_polls') }} as polls
    {{ join_rules('polls.service_date') }}
    where {{ is_received_around('polls.received_date') }}
    window one_stop as (
        partition by polls.operator, polls.stop_code order by polls.received_at, polls.request_id
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
