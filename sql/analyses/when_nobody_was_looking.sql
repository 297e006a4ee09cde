-- In which hours was nobody looking? Share of the time of the stops asked that was watched, by date and hour.
select
    service_date,
    service_hour,
    count(*) as n_stops_asked,
    sum(planned) as n_planned,
    sum(sent) as n_sent,
    sum(good) as n_good,
    round(sum(covered_seconds) / (3600 * count(*)), 3) as watched_share,
    max(longest_gap_seconds) as longest_gap_seconds
from marts.coverage
group by service_date, service_hour
order by service_date, service_hour
