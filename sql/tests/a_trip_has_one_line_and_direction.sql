{{ config(severity='error', meta={'checks': 'logic'}) }}
select
    trip_key,
    count(distinct line_code || '/' || direction) as n_line_directions
from {{ built('passing_times') }}
where line_code is not null
group by trip_key
having count(distinct line_code || '/' || direction) > 1
