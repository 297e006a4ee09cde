-- One row per operator, service_date, line and good answer about the timetable: how much it listed, and how much of
-- that is in the lake.
{%- set date_asked = "try_cast(" ~ part('requests.key', '/', 2) ~ " as date)" %}
with kept as (
    select
        operator,
        request_id,
        count(*) as n_kept
    from {{ ref('staging_timetables') }}
    where {{ is_built() }} and {{ is_received_around(days_before=15) }}
    group by operator, request_id
)

select
    requests.operator,
    {{ date_asked }} as service_date,
    {{ part('requests.key', '/', 1) }} as line_code,
    requests.request_id,
    requests.received_at,
    row_number() over of_timetable as answer_number,
    requests.n_rows as n_listed,
    coalesce(kept.n_kept, 0) as n_kept,
    lag(coalesce(requests.n_rows, kept.n_kept, 0)) over of_timetable as n_listed_before
from {{ ref('staging_requests') }} as requests
left join kept using (operator, request_id)
where
    requests.endpoint = 'timetables'
    and requests.is_good
    and {{ is_built(date_asked) }}
    and {{ is_received_around('requests.received_date', days_before=15) }}
window of_timetable as (partition by requests.operator, requests.key order by requests.received_at, requests.request_id)
