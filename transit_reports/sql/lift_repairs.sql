-- Median time to repair of the lifts of each category together, with a 95 % interval: all dates of the file that are over.
select
    reliability.category,
    reliability.n_failures,
    reliability.repair_low_seconds / 3600 as hours_low,
    reliability.repair_high_seconds / 3600 as hours_high,
    definitions.meaning
from marts.lift_reliability as reliability
inner join core.lift_definitions as definitions using (definition)
where definitions.is_default and reliability.period = 'all' and reliability.lift is null
order by reliability.n_failures desc, reliability.category
