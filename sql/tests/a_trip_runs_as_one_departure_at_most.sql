{{ config(severity='error', meta={'checks': 'logic'}) }}
select
    operator,
    service_date,
    matched_trip_id,
    count(*) as n_departures
from {{ ref('scheduled_departures') }}
where matched_trip_id is not null and {{ is_built() }}
group by operator, service_date, matched_trip_id
having count(*) > 1
