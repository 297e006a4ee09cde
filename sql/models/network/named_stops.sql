{{ config(materialized=inlined()) }}
-- One row per operator, service_date, line, direction, stop and scope: a stop of the line that the reference file of
-- judged stops names. A row of the file without a line or direction is about all of them.
select distinct
    stops.operator,
    stops.service_date,
    stops.line_code,
    stops.direction,
    stops.stop_code,
    named.stop_scope
from {{ built('line_stops_of_day') }} as stops
inner join {{ source('intermediate', 'judged_stops') }} as named
    on
        stops.operator = named.operator
        and stops.stop_code = named.stop_code
        and coalesce(named.line_code, stops.line_code) = stops.line_code
        and coalesce(named.direction, stops.direction) = stops.direction
