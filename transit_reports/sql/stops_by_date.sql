-- Punctuality of the passages at each stop on each service date, of all its lines together, with 95 % intervals.
select
    stop_code,
    service_date,
    n_due,
    cast(n_observed as double) / nullif(n_due, 0) as observed_share,
    estimated_on_time_share as on_time,
    estimated_on_time_share_low as on_time_low,
    estimated_on_time_share_high as on_time_high,
    estimated_mean_delay_seconds as mean_delay,
    estimated_mean_delay_seconds_low as mean_delay_low,
    estimated_mean_delay_seconds_high as mean_delay_high,
    estimate_null_reason as null_reason
from marts.punctuality_by_stop
where service_date between $first and $last
order by stop_code, service_date
