{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, UTC day of receipt and category asked for: the first and the last complete answer to the
-- service status.
select
    operator,
    received_date,
    category_asked,
    min(received_at) as first_answer_at,
    max(received_at) as last_answer_at,
    count(*) as n_answers
from {{ ref('status_polls') }}
where is_complete and {{ is_received_around() }}
group by operator, received_date, category_asked
