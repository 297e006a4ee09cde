-- Which lifts were out of use most, and how long does a repair take?
-- Only lifts that failed are known. An open outage counts as time out of use, not as a repair.
select
    lift,
    n_dates,
    round(availability_low, 4) as availability_low,
    round(availability_high, 4) as availability_high,
    n_failures,
    is_open,
    round(mtbf_low_seconds / 3600, 1) as hours_between_failures_low,
    round(mtbf_high_seconds / 3600, 1) as hours_between_failures_high,
    round(mttr_low_seconds / 3600, 1) as hours_to_repair_low,
    round(mttr_high_seconds / 3600, 1) as hours_to_repair_high
from marts.lift_reliability
order by availability_low, lift
