{{ config(schema='core', incremental_strategy='validity') }}
-- One row per line and validity: its content in the lines list, from when to when.
with answers as (
    select
        operator,
        '' as stream,
        request_id,
        received_at
    from {{ ref('staging_requests') }}
    where endpoint = 'lines' and is_good and {{ is_continued() }}
),

listed as (
    select *
    from (
        select
            *,
            row_number() over (
                partition by operator, request_id, line_code order by row_number
            ) as nth
        from {{ ref('staging_lines') }}
        where {{ is_continued() }}
    ) as numbered
    where nth = 1
),

{{ validity('answers', 'listed', [
    'line_code', 'line_number', 'terminus_outbound', 'terminus_inbound', 'is_active', 'note'
], held="''") }}

select
    operator,
    line_code,
    line_number,
    terminus_outbound,
    terminus_inbound,
    is_active,
    note,
    valid_from,
    valid_to,
    is_current
from validity
