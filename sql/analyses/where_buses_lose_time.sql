-- Between which neighbouring stops do buses lose most time against the timetable?
-- Means estimated for all trips due that were observed anywhere, with the 95 % interval of the mean travel time; of the
-- trips n_trips were observed passing both stops. A loss whose interval begins below zero may be none. Where too little
-- is known a mean is null, with the reason. Without `--to` only dates that are over count. Of each operator the twenty
-- greatest losses.
select
    times.operator,
    line_code,
    direction,
    from_stop_code,
    to_stop_code,
    n_due,
    n_due_of_observed_trips,
    n_trips,
    round(estimated_seconds) as mean_seconds,
    round(estimated_seconds_low) as mean_seconds_low,
    round(estimated_seconds_high) as mean_seconds_high,
    round(estimated_seconds - due_seconds) as mean_loss_seconds,
    round(estimated_seconds_low - due_seconds) as mean_loss_seconds_low,
    round(estimated_seconds_high - due_seconds) as mean_loss_seconds_high,
    estimate_null_reason as null_reason
from travel_times_between(getvariable('from_date'), getvariable('to_date')) as times
where is_adjacent and (getvariable('lines') is null or list_contains(getvariable('lines'), line_code))
qualify
    row_number() over (
        partition by times.operator
        order by mean_loss_seconds desc nulls last, line_code, direction, from_stop_code, to_stop_code
    ) <= 20
order by times.operator, mean_loss_seconds desc nulls last, line_code, direction, from_stop_code, to_stop_code
