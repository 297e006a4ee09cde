create or replace macro on_time_share(early, late) as table
with visits as (
    select
        *,
        scheduled_at is not null as is_scheduled,
        scheduled_at is not null and arrival_quality in ('evidenced', 'bounded') as is_judged
    from core.stop_visits
),

counts as (
    select
        operator,
        service_date,
        line_code,
        direction,
        service_hour,
        count_if(is_scheduled) as n_scheduled,
        count_if(is_judged) as n_judged,
        count_if(is_judged and delay_seconds between early and late) as n_likely_on_time,
        count_if(delay_low_seconds >= early and delay_high_seconds <= late) as n_on_time,
        -- also visits that were never seen gone, or never seen at all
        count_if(
            is_scheduled and coalesce(delay_low_seconds <= late, true) and coalesce(delay_high_seconds >= early, true)
        ) as n_possibly_on_time
    from visits
    group by all
)

select
    *,
    n_on_time / nullif(n_scheduled, 0) as on_time_share_low,
    n_likely_on_time / nullif(n_judged, 0) as on_time_share,
    n_possibly_on_time / nullif(n_scheduled, 0) as on_time_share_high
from counts;
