-- Countdowns of each line by how far ahead they looked: share within the band, with a 95 % interval.
select
    key as line_code,
    horizon_from_seconds,
    horizon_to_seconds,
    n as n_judged,
    n_not_judged,
    within_band_share as within,
    within_band_share_low as within_low,
    within_band_share_high as within_high,
    n_too_early / nullif(n, 0) as too_early,
    n_too_late / nullif(n, 0) as too_late,
    null_reason
from predictions_between(line_code, $first, $last)
order by line_code, horizon_from_seconds
