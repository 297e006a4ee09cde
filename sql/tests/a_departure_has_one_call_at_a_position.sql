{{ config(severity='error', meta={'checks': 'logic'}) }}
select
    operator,
    service_date,
    departure_key,
    position,
    count(*) as n_calls
from {{ ref('trip_calls') }}
where is_call_of_departure and {{ is_built() }}
group by operator, service_date, departure_key, position
having count(*) > 1
