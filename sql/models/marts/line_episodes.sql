{{ config(schema='intermediate', materialized='view') }}
-- One row per episode of the service status and line it names. Numbers without a line of that number have no row.
with line_numbers as (
    select distinct
        operator,
        line_code,
        {{ normal_label('line_number') }} as plain_number
    from {{ ref('lines') }}
),

named as (
    select
        operator,
        episode_id,
        coalesce(started_at, first_seen_at) as from_at,
        ended_after as low_to_at,
        coalesce(ended_before, ended_after) as high_to_at,
        {{ each_of('lines') }} as line_number
    from {{ ref('disruptions') }}
)

select distinct
    named.operator,
    named.episode_id,
    line_numbers.line_code,
    named.from_at,
    named.low_to_at,
    named.high_to_at
from named
inner join line_numbers
    on
        named.operator = line_numbers.operator
        and {{ normal_label('named.line_number') }} = line_numbers.plain_number
