-- Departures of all lines: how many were in force, surely ran, surely did not run. Bounds.
select
    cast(coalesce(sum(n_scheduled_trips), 0) as bigint) as n_departures,
    cast(sum(n_run) as bigint) as n_run,
    cast(sum(n_not_run) as bigint) as n_not_run,
    sum(n_run) / nullif(sum(n_scheduled_trips), 0) as delivered_low,
    (sum(n_scheduled_trips) - sum(n_not_run)) / nullif(sum(n_scheduled_trips), 0) as delivered_high
from marts.service_delivered
where service_date between $first and $last
