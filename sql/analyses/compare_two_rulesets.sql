-- What would the on-time shares be under another ruleset? Daily shares by the ruleset in force and by ruleset 2.
-- Run `transit-etl build --ruleset 2` and `transit-etl publish` first.
select
    service_date,
    line_code,
    direction,
    round(in_force.on_time_share, 3) as on_time_share_in_force,
    round(ruleset_2.on_time_share, 3) as on_time_share_ruleset_2,
    round(ruleset_2.on_time_share - in_force.on_time_share, 3) as difference
from marts.punctuality_daily as in_force
inner join marts_ruleset_2.punctuality_daily as ruleset_2
    using (operator, service_date, line_code, direction)
order by service_date, line_code, direction
