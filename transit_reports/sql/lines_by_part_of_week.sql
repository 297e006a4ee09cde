-- Punctuality of each line and direction from Monday to Friday, and at weekends, with 95 % intervals.
select
    key.line_code as line_code,
    key.direction as direction,
    key.part as part,
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
            'part': case when isodow(service_date) < 6 then 'Monday to Friday' else 'weekend' end
        },
        $first, $last
    )
where key.line_code is not null
order by all
