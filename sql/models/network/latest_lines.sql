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
from {{ first_rows(ref('lines'), ['operator', 'line_code'], 'valid_from desc') }} as latest
