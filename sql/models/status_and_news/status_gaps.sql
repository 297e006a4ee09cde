{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, UTC day of receipt, category asked for ('' for all) and gap: two successive complete answers to
-- the service status on that day that are more than `coverage_gap_seconds` apart. Nobody looked in between.
with answers as (
    select
        evidence.operator,
        evidence.received_date,
        evidence.key as category_asked,
        evidence.received_at as gap_to,
        lag(evidence.received_at) over (
            partition by evidence.operator, evidence.key, evidence.received_date
            order by evidence.received_at, evidence.request_id
        ) as gap_from,
        rules.coverage_gap_seconds
    from {{ ref('answer_evidence') }} as evidence
    {{ join_rules('evidence.service_date') }}
    where
        evidence.endpoint = 'status'
        and evidence.evidence = 'complete'
        and {{ is_received_around('evidence.received_date') }}
)

select
    operator,
    received_date,
    category_asked,
    gap_from,
    gap_to
from answers
where seconds_between(gap_from, gap_to) > coverage_gap_seconds
