-- In which hours were stops polled too rarely to observe passages? Covered share of the polled stops' time, by date and
-- hour. An hour without a row was not polled at all.
select
    service_date,
    service_hour,
    count(*) as n_stops_polled,
    sum(planned) as n_planned,
    sum(sent) as n_sent,
    sum(good) as n_good,
    round(sum(covered_seconds) / (3600 * count(*)), 3) as covered_share,
    max(longest_gap_seconds) as longest_gap_seconds
from marts.coverage
group by service_date, service_hour
order by service_date, service_hour
