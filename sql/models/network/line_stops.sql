{{ config(schema='core', incremental_strategy='validity') }}
-- One row per line, direction, position and validity: the stop that a line serves there, from when to when.
with listed as (
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
    good_answers('stops', 'key'), 'listed', ['line_code', 'direction', 'position', 'stop_sequence', 'stop_code'],
    held='line_code'
) }}

select * from validity
