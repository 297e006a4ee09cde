-- One row per operator, service_date, line and good answer about the timetable: how much it listed, and whether it is
-- complete evidence.
{%- set date_asked = "try_cast(split_part(evidence.key, '/', 2) as date)" %}
select
    evidence.operator,
    {{ date_asked }} as service_date,
    split_part(evidence.key, '/', 1) as line_code,
    evidence.request_id,
    evidence.received_at,
    evidence.n_rows as n_listed,
    evidence.evidence = 'complete' as is_complete,
    count(case when evidence.evidence = 'complete' then 1 end) over (
        partition by evidence.operator, evidence.key
        order by evidence.received_at, evidence.request_id rows between unbounded preceding and 1 preceding
    ) = 0 as is_first
from {{ ref('answer_evidence') }} as evidence
where
    evidence.endpoint = 'timetables'
    and {{ is_built(date_asked) }}
    and {{ is_received_around('evidence.received_date', days_before=15) }}
