-- Passages whose time was observed, by line, direction and minutes of delay (from below -5 to 20 and more).
select
    line_code,
    direction,
    cast(greatest(least(floor(delay_seconds / 60), 20), -6) as integer) as delay_minutes,
    count(*) as n_passages
from core.trip_trajectories
where service_date between $first and $last and arrival_quality in ('evidenced', 'bounded')
group by all
order by all
