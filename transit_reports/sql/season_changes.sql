-- Dates whose first answer told another timetable than was then known of the last date of the same type of day.
select
    line_code,
    direction,
    service_date,
    compared_date,
    local_time(changed_at) as changed,
    n_promised_before,
    n_promised,
    n_added,
    n_removed,
    n_moved,
    n_edited
from marts.timetable_change_counts
where compared_with = 'comparable_date' and service_date between $first and $last
order by all
