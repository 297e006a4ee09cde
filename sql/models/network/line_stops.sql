{{ config(schema='core', incremental_strategy='validity') }}
-- One row per line, direction, position and validity: the stop that a line serves there, from when to when.
with answers as (
    select
        operator,
        key as stream,
        request_id,
        received_at
    from {{ ref('staging_requests') }}
    where endpoint = 'stops' and is_good and {{ is_continued() }}
),

listed as (
    select *
    from (
        select
            *,
            {{ published_direction_key() }} as published_key
        from {{ ref('staging_line_stops') }}
        where {{ is_continued() }}
    ) as keyed
    where direction_key = published_key
),

{{ validity(
    'answers', 'listed', ['line_code', 'direction', 'position', 'stop_sequence', 'stop_code'], held='line_code'
) }}

select
    operator,
    line_code,
    direction,
    position,
    stop_sequence,
    stop_code,
    valid_from,
    valid_to,
    is_current
from validity
