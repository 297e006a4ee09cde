{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator and good answer to the service status, and whether all its rows are in the lake.
-- An answer without its list, or that lost rows to quarantine, cannot prove that something was absent.
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
    requests.received_at,
    coalesce(requests.n_rows = coalesce(entries.n_rows, 0), false) as is_complete
from {{ ref('staging_requests') }} as requests
left join entries using (operator, request_id)
where
    requests.endpoint = 'status'
    and requests.is_good
    and {{ is_received_around('requests.received_date') }}
