{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator and answer about the passages of a stop that proves something: when it was observed, whether all
-- its rows are in the lake, and its number. The answers of one stop around the service dates being built are numbered
-- one after the other; with other dates they get other numbers.
-- A failed request, an error row or an empty body is not a good answer: it is evidence of nothing, as is an answer that
-- passage_doubts names.
with answers as (
    select
        request_id,
        operator,
        max(observed_at) as observed_at,
        count(*) as n_kept
    from {{ ref('staging_passages') }}
    where {{ is_received_around() }}
    group by request_id, operator
),

polls as (
    select
        requests.operator,
        requests.received_date,
        requests.request_id,
        requests.key as stop_code,
        requests.service_date,
        requests.received_at,
        coalesce(answers.observed_at, requests.received_at) as polled_at,
        {{ reading_of('requests.n_rows', 'answers.n_kept') }} = 'complete' as is_complete
    from {{ ref('staging_requests') }} as requests
    left join answers using (operator, request_id)
    {{ join_doubts("''", answers='requests') }}
    where
        requests.endpoint = 'passages'
        and doubts.request_id is null
        and requests.is_good
        and {{ is_received_around('requests.received_date') }}
)

select
    *,
    cast(row_number() over (order by operator, stop_code, polled_at, request_id) as bigint) as poll_number
from polls
