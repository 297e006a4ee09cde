-- Which lines did not run all their departures this month? Bounds of the delivered share of the departures in force.
-- Between the bounds lie the departures whose outcome could not be observed.
select
    line_code,
    direction,
    cast(date_trunc('month', service_date) as date) as month_starts_date,
    sum(n_scheduled_trips) as n_scheduled_trips,
    sum(n_run) as n_run,
    sum(n_not_run) as n_not_run,
    sum(n_not_observable) as n_not_observable,
    round(sum(n_run) / sum(n_scheduled_trips), 3) as delivered_share_low,
    round(1 - sum(n_not_run) / sum(n_scheduled_trips), 3) as delivered_share_high
from marts.service_delivered
group by line_code, direction, date_trunc('month', service_date)
order by sum(n_not_run) / sum(n_scheduled_trips) desc, line_code, direction
limit 20
