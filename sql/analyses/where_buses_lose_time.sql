-- Between which neighbouring stops do buses lose most time against the timetable?
-- Low and high are the means of the lower and upper bounds of the travel times. Only dates that are over count.
select
    line_code,
    direction,
    from_stop_code,
    to_stop_code,
    sum(n_trips) as n_trips,
    round(sum(seconds_sum) / sum(n_trips), 0) as mean_seconds,
    round(sum(low_seconds_sum) / sum(n_trips), 0) as mean_low_seconds,
    round(sum(high_seconds_sum) / sum(n_trips), 0) as mean_high_seconds,
    round((sum(seconds_of_scheduled_sum) - sum(scheduled_seconds_sum)) / nullif(sum(n_trips_with_schedule), 0), 0)
        as mean_loss_seconds
from marts.travel_times
inner join core.closed_dates using (operator, service_date)
where is_adjacent
group by line_code, direction, from_stop_code, to_stop_code
having sum(n_trips) >= 5
order by mean_loss_seconds desc nulls last, line_code, direction, from_stop_code, to_stop_code
limit 20
