-- Passages due in each hour of each service date, and the share of them due while their stop was watched.
select
    service_date,
    service_hour,
    cast(sum(n_due) as bigint) as n_due,
    cast(sum(sent) as bigint) as n_requests,
    cast(sum(good) as bigint) as n_good,
    sum(n_due * least(covered_seconds, 3600)) / nullif(sum(n_due) * 3600, 0) as watched_share
from marts.coverage
where service_date between $first and $last
group by service_date, service_hour
order by service_date, service_hour
