-- Where and when do buses bunch? Shares of headways of at most half, and of at least one and a half times, the
-- scheduled ones. Only frequent service, and only headways in which no bus can have passed unobserved, on dates
-- that are over.
select
    line_code,
    direction,
    stop_code,
    service_hour,
    sum(n_actual) as n_headways,
    round(sum(n_bunched) / sum(n_actual), 3) as bunched_share,
    round(sum(n_gaps) / sum(n_actual), 3) as gap_share
from marts.headways
inner join core.closed_dates using (operator, service_date)
where is_frequent and n_actual > 0
group by line_code, direction, stop_code, service_hour
having sum(n_actual) >= 5
order by bunched_share desc, n_headways desc, line_code, direction, stop_code, service_hour
limit 20
