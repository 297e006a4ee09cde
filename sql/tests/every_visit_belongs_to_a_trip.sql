{{ config(severity='error', meta={'checks': 'logic'}) }}
select visits.*
from {{ ref('stop_visits') }} as visits
left join {{ ref('trips') }} as trips
    on visits.trip_key = trips.trip_key and {{ is_built('trips.service_date') }}
where trips.trip_key is null and {{ is_built('visits.service_date') }}
