{{ config(materialized=inlined()) }}
-- One row per operator, answer about a stop and label: when the last bus is due for which its list has room, and the
-- first bus of an anonymous row, which may be any. Lists end after a number of buses of a line (listed_per_line).
select
    operator,
    request_id,
    plain_label,
    min(case when nth >= listed_per_line then predicted_at end) as full_at,
    min(case when trip_id is null then predicted_at end) as anonymous_at
from (
    select
        passages.operator,
        passages.request_id,
        replace(passages.line_label, '/', '') as plain_label,
        passages.trip_id,
        passages.predicted_at,
        parameters.listed_per_line,
        row_number() over (
            partition by passages.operator, passages.request_id, replace(passages.line_label, '/', '')
            order by passages.predicted_at
        ) as nth
    from {{ ref('staging_passages') }} as passages
    cross join {{ ref('inference_parameters') }} as parameters
    where passages.predicted_at is not null and {{ is_received_around('passages.received_date') }}
) as ranked
group by operator, request_id, plain_label
