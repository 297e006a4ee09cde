{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator and good answer about the passages of a stop: when it was observed, whether all its rows are in
-- the lake, and its number. The answers of one stop around the service dates being built are numbered one after the
-- other; with other dates they get other numbers.
-- A failed request, an error row or an empty body is not a good answer: it is evidence of nothing.
with observed as (
    select
        operator,
        request_id,
        max(observed_at) as observed_at
    from {{ ref('staging_passages') }}
    where {{ is_received_around() }}
    group by operator, request_id
),

polls as (
    select
        answers.operator,
        answers.received_date,
        answers.request_id,
        answers.key as stop_code,
        answers.service_date,
        answers.received_at,
        coalesce(observed.observed_at, answers.received_at) as polled_at,
        answers.evidence = 'complete' as is_complete
    from {{ ref('answer_evidence') }} as answers
    left join observed using (operator, request_id)
    where answers.endpoint = 'passages' and {{ is_received_around('answers.received_date') }}
)

select
    *,
    row_number() over (order by operator, stop_code, polled_at, request_id) as poll_number
from polls
