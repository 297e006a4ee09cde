-- Waits of each line and direction with frequent service on each service date, with 95 % intervals.
select
    line_code,
    direction,
    service_date,
    estimated_ewt_seconds as excess_wait,
    estimated_ewt_seconds_low as excess_wait_low,
    estimated_ewt_seconds_high as excess_wait_high,
    estimate_null_reason as null_reason,
    estimated_bunched_share as bunched,
    estimated_bunched_share_low as bunched_low,
    estimated_bunched_share_high as bunched_high,
    estimated_gaps_share as gaps,
    estimated_gaps_share_low as gaps_low,
    estimated_gaps_share_high as gaps_high
from marts.headways_daily
where service_date between $first and $last
order by all
