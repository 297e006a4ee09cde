-- Lifts on each service date: how long each was out of use. Bounds.
select
    lift,
    service_date,
    total_seconds,
    covered_seconds as watched_seconds,
    out_low_seconds,
    out_high_seconds,
    null_reason
from marts.lift_availability
where service_date between $first and $last
order by lift, service_date
