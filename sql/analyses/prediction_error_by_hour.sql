-- How large is the error of upstream's predictions, by hour and by how far ahead they look?
-- An error is positive where the bus came later than predicted. Only evidenced passages count; low and high are what
-- the polls allow. The share within the band has a 95 % interval, in which the predictions of a trip are not
-- independent; it is null, with the reason, where too little is known. Without `--to` only dates that are over count.
select
    errors.operator,
    errors.key as service_hour,
    horizon_from_seconds / 60 as minutes_ahead_from,
    horizon_to_seconds / 60 as minutes_ahead_to,
    n as n_predictions,
    n_not_judged,
    round(error_seconds_sum / nullif(n, 0), 1) as mean_error_seconds,
    round(absolute_error_seconds_sum / nullif(n, 0), 1) as mean_absolute_error_seconds,
    round(absolute_error_low_seconds_sum / nullif(n, 0), 1) as mean_absolute_error_low_seconds,
    round(absolute_error_high_seconds_sum / nullif(n, 0), 1) as mean_absolute_error_high_seconds,
    round(within_band_share, 3) as within_band_share,
    round(within_band_share_low, 3) as within_band_share_low,
    round(within_band_share_high, 3) as within_band_share_high,
    null_reason,
    round(n_too_late / nullif(n, 0), 3) as too_late_share,
    round(absolute_revision_seconds_sum / nullif(n_revisions, 0), 1) as mean_revision_seconds
from predictions_between(service_hour, getvariable('from_date'), getvariable('to_date')) as errors
order by errors.operator, service_hour, horizon_from_seconds
