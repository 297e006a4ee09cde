-- Waits for each line and direction with frequent service at each stop, with 95 % intervals.
select
    stop_code,
    line_code,
    direction,
    cast(round(expected_headways) as bigint) as n_headways,
    estimated_awt_seconds as actual_wait,
    due_swt_seconds as scheduled_wait,
    estimated_ewt_seconds as excess_wait,
    estimated_ewt_seconds_low as excess_wait_low,
    estimated_ewt_seconds_high as excess_wait_high,
    estimate_null_reason as null_reason,
    estimated_bunched_share as bunched,
    estimated_bunched_share_low as bunched_low,
    estimated_bunched_share_high as bunched_high,
    estimated_gaps_share as gaps,
    estimated_gaps_share_low as gaps_low,
    estimated_gaps_share_high as gaps_high,
    bunched_null_reason
from stop_waits_between($first, $last)
order by stop_code, line_code, direction
