-- One row per stop listed under a direction in an answer to the stops of a line.
select
    operator,
    request_id,
    {{ adapter.quote("window") }},
    received_at,
    line_code,
    direction,
    direction_key,
    direction_indicator,
    position,
    stop_sequence,
    stop_code,
    extra,
    try_cast(date as date) as received_date
from {{ lake('line_stops') }}
