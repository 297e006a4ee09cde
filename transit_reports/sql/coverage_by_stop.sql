-- Requests of each stop, and the share of its passages due that were due while it was watched.
select
    stop_code,
    cast(sum(sent) as bigint) as n_requests,
    cast(sum(good) as bigint) as n_good,
    max(longest_gap_seconds) as longest_gap_seconds,
    sum(n_due * least(covered_seconds, 3600)) / nullif(sum(n_due) * 3600, 0) as watched_share
from marts.coverage
where service_date between $first and $last
group by stop_code
order by stop_code
