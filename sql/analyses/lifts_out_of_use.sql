-- Which lifts were out of use most, and how long does a repair take?
-- By the default definition of `core.lift_definitions`; all lifts of a category together have no name. A lift that
-- never failed is known by the plant file alone. An open outage counts as time out of use, not as a repair.
select
    reliability.operator,
    reliability.category,
    reliability.lift,
    reliability.n_dates,
    round(reliability.availability_low, 4) as availability_low,
    round(reliability.availability_high, 4) as availability_high,
    reliability.n_failures,
    reliability.is_open,
    round(reliability.mtbf_low_seconds / 3600, 1) as hours_between_failures_low,
    round(reliability.mtbf_high_seconds / 3600, 1) as hours_between_failures_high,
    round(reliability.repair_low_seconds / 3600, 1) as median_hours_to_repair_low,
    round(reliability.repair_high_seconds / 3600, 1) as median_hours_to_repair_high,
    reliability.null_reason
from marts.lift_reliability as reliability
inner join core.lift_definitions as definitions using (definition)
where definitions.is_default and reliability.period = 'all'
order by reliability.operator, reliability.availability_low, reliability.lift
