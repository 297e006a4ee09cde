{{ config(severity='error', meta={'checks': 'logic'}) }}
select
    coalesce(visits.service_date, marts.service_date) as service_date,
    visits.n_visits as n_in_core,
    marts.n_visits as n_in_marts
from (
    select
        service_date,
        count(*) as n_visits
    from {{ ref('stop_visits') }}
    where {{ is_built() }}
    group by service_date
) as visits
full outer join (
    select
        service_date,
        sum(n_visits) as n_visits
    from {{ ref('punctuality') }}
    where {{ is_built() }}
    group by service_date
) as marts
    on visits.service_date = marts.service_date
where coalesce(visits.n_visits, 0) != coalesce(marts.n_visits, 0)
