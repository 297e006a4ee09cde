{{ config(schema='core', materialized='view') }}
-- One row per operator and line: its number, termini and name as the lines list gave them last.
select
    operator,
    line_code,
    line_number,
    terminus_outbound,
    terminus_inbound,
    concat_ws(' ', line_number, concat_ws(' - ', terminus_outbound, terminus_inbound)) as line_name,
    is_current
from (
    select
        *,
        row_number() over (partition by operator, line_code order by valid_from desc) as nth_latest
    from {{ ref('lines') }}
) as numbered
where nth_latest = 1
