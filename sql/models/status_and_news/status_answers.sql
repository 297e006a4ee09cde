{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, UTC day of receipt, category asked for and number of rows that could not be read: the first and
-- the last answer to the service status that proves which other events were not listed.
select
    operator,
    received_date,
    key as category_asked,
    n_unread,
    min(received_at) as first_answer_at,
    max(received_at) as last_answer_at,
    count(*) as n_answers
from {{ ref('answer_evidence') }}
where endpoint = 'status' and n_unread is not null and {{ is_received_around() }}
group by operator, received_date, key, n_unread
