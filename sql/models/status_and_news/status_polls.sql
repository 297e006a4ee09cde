{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator and answer to the service status that shows what is not disrupted: a good one with all its rows
-- in the lake.
-- A failed request, an answer without its list, and one that lost rows to quarantine are evidence of nothing.
with entries as (
    select
        operator,
        request_id,
        count(*) as n_rows
    from {{ ref('staging_status') }}
    where {{ is_received_around() }}
    group by operator, request_id
)

select
    requests.operator,
    requests.received_date,
    requests.service_date,
    requests.request_id,
    requests.key as category_asked,
    requests.received_at
from {{ ref('staging_requests') }} as requests
left join entries using (operator, request_id)
where
    requests.endpoint = 'status'
    and requests.is_good
    and requests.n_rows = coalesce(entries.n_rows, 0)
    and {{ is_received_around('requests.received_date') }}
