-- Changes of the timetable of a date that were seen after it was first answered.
select
    line_code,
    direction,
    service_date,
    local_time(changed_at) as changed,
    n_added,
    n_removed,
    n_moved,
    n_after_the_fact,
    n_under_24_h,
    n_under_7_days,
    n_longer,
    n_notice_unknown,
    n_edited
from marts.timetable_change_counts
where compared_with = 'same_date' and service_date between $first and $last
order by all
