-- One row per departure listed in an answer to the timetable of a line and a date.
select
    operator,
    request_id,
    {{ adapter.quote("window") }},
    received_at,
    line_code,
    service_date,
    service_seconds,
    service_hour,
    nullif(service_code, '') as service_code,
    is_slash_variant,
    headsign,
    service_description,
    direction,
    direction_key,
    leg_description,
    departure_number,
    departure_text,
    departure_at,
    extra,
    try_cast(date as date) as received_date
from {{ lake('timetables') }}
