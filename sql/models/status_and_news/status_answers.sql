{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, UTC day of receipt and category asked for: the first and the last good answer to the status.
select
    operator,
    received_date,
    key as category_asked,
    min(received_at) as first_answer_at,
    max(received_at) as last_answer_at,
    count(*) as n_answers
from {{ ref('staging_requests') }}
where endpoint = 'status' and is_good and {{ is_received_around() }}
group by operator, received_date, key
