select
    trip_key,
    count(distinct line_code || '/' || direction) as n_line_directions
from {{ ref('visit_trips') }}
where line_code is not null and {{ is_built() }}
group by trip_key
having count(distinct line_code || '/' || direction) > 1
