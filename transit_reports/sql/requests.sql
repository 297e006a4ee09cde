-- What the request allowance was spent on.
select
    endpoint,
    coalesce(purpose, '') as purpose,
    count(*) as n_requests,
    count_if(is_good) as n_good,
    count_if(outcome = 'not_sent') as n_not_sent
from core.requests
where service_date between $first and $last
group by all
order by n_requests desc, endpoint, purpose
