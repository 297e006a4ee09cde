-- Changes of the timetable that were seen after it was first published.
select
    line_code,
    direction,
    service_date,
    local_time(changed_at) as changed,
    n_added,
    n_withdrawn,
    n_withdrawn_after_due,
    n_edited
from marts.timetable_changes
where service_date between $first and $last
order by all
