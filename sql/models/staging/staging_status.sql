-- One row per entry listed in an answer to the service status.
select
    operator,
    request_id,
    {{ adapter.quote("window") }},
    received_at,
    category_asked,
    row_number,
    event,
    category,
    lines,
    lines_kind,
    cause,
    message,
    started_at,
    started_text,
    service_date,
    service_seconds,
    service_hour,
    extra,
    try_cast(date as date) as received_date
from {{ lake('status') }}
