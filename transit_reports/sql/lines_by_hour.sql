-- Punctuality of each line and direction by weekday (1 is Monday) and service hour, with 95 % intervals.
select
    key.line_code as line_code,
    key.direction as direction,
    key.weekday as weekday,
    key.service_hour as service_hour,
    n_dates,
    n_due,
    coverage as observed_share,
    cast(n_expected as double) / nullif(n_due, 0) as unseen_share,
    estimated_on_time_share as on_time,
    estimated_on_time_share_low as on_time_low,
    estimated_on_time_share_high as on_time_high,
    estimated_early_share as early,
    estimated_early_share_low as early_low,
    estimated_early_share_high as early_high,
    estimated_late_share as late,
    estimated_late_share_low as late_low,
    estimated_late_share_high as late_high,
    estimated_mean_delay_seconds as mean_delay,
    estimated_mean_delay_seconds_low as mean_delay_low,
    estimated_mean_delay_seconds_high as mean_delay_high,
    estimate_null_reason as null_reason
from
    punctuality_between(
        {
            'line_code': line_code,
            'direction': direction,
            'weekday': isodow(service_date),
            'service_hour': service_hour
        },
        $first, $last
    )
where key.line_code is not null
order by all
