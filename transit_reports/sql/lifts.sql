-- Lifts: how much of the time that was watched each was out of use. Bounds.
select
    lift,
    count(*) as n_dates,
    sum(total_seconds) as total_seconds,
    sum(covered_seconds) as watched_seconds,
    sum(out_low_seconds) as out_low_seconds,
    sum(out_high_seconds) as out_high_seconds,
    1 - sum(out_high_seconds) / nullif(sum(total_seconds), 0) as available_low,
    1 - sum(out_low_seconds) / nullif(sum(total_seconds), 0) as available_high,
    cast(sum(n_failures) as bigint) as n_failures,
    cast(sum(n_repairs) as bigint) as n_repairs,
    min(null_reason) as null_reason
from marts.lift_availability
where service_date between $first and $last
group by lift
order by available_high, lift
