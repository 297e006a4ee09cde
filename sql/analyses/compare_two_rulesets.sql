-- What would the shares be under another ruleset? Needs `transit-etl build --ruleset 2` (and publish) first.
select
    service_date,
    line_code,
    direction,
    round(first_one.on_time_share, 3) as on_time_share_in_force,
    round(second_one.on_time_share, 3) as on_time_share_of_2,
    round(second_one.on_time_share - first_one.on_time_share, 3) as difference
from marts.punctuality_daily as first_one
inner join marts_ruleset_2.punctuality_daily as second_one
    using (operator, service_date, line_code, direction)
order by service_date, line_code, direction
