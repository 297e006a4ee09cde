-- One row per line listed in an answer to the lines list.
select
    operator,
    request_id,
    {{ adapter.quote("window") }},
    received_at,
    row_number,
    line_code,
    line_number,
    terminus_outbound,
    terminus_inbound,
    is_active,
    note,
    extra,
    try_cast(date as date) as received_date
from {{ lake('lines') }}
