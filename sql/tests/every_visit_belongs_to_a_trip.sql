select visits.*
from {{ ref('stop_visits') }} as visits
left join {{ ref('trips') }} as trips
    on
        visits.operator = trips.operator
        and visits.service_date = trips.service_date
        and visits.trip_id = trips.trip_id
where trips.trip_id is null and {{ is_built('visits.service_date') }}
