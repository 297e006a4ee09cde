-- How large is the error of upstream's predictions, by hour and by how far ahead they look?
-- An error is positive where the bus came later than predicted. Only observed passages count; low and high are what the
-- polls allow. Only dates that are over count.
select
    service_hour,
    horizon_from_seconds / 60 as minutes_ahead_from,
    horizon_to_seconds / 60 as minutes_ahead_to,
    sum(n) as n_predictions,
    round(sum(error_seconds_sum) / sum(n), 1) as mean_error_seconds,
    round(sum(absolute_error_seconds_sum) / sum(n), 1) as mean_absolute_error_seconds,
    round(sum(absolute_error_low_seconds_sum) / sum(n), 1) as mean_absolute_error_low_seconds,
    round(sum(absolute_error_high_seconds_sum) / sum(n), 1) as mean_absolute_error_high_seconds,
    round(sum(n_within) / sum(n), 3) as within_band_share,
    round(sum(n_too_late) / sum(n), 3) as too_late_share,
    round(sum(absolute_revision_seconds_sum) / nullif(sum(n_revisions), 0), 1) as mean_revision_seconds
from marts.prediction_accuracy_by_hour
inner join core.closed_dates using (operator, service_date)
group by service_hour, horizon_from_seconds, horizon_to_seconds
order by service_hour, horizon_from_seconds
