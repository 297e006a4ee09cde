{{ config(materialized='table') }}
-- One row per line, direction, position and validity: the stops a line serves, from when to when.
with answers as (
    select
        operator,
        key as stream,
        request_id,
        received_at
    from {{ ref('staging_requests') }}
    where endpoint = 'stops' and is_good
),

listed as (
    select *
    from (
        select
            *,
            row_number() over (
                partition by operator, request_id, line_code, direction, position order by stop_sequence, stop_code
            ) as nth
        from {{ ref('staging_line_stops') }}
    ) as numbered
    where nth = 1
),

{{ validity('answers', 'listed', ['line_code', 'direction', 'position', 'stop_sequence', 'stop_code']) }}

select
    operator,
    line_code,
    direction,
    position,
    stop_sequence,
    stop_code,
    valid_from,
    valid_to,
    is_current,
    n_answers
from validity
