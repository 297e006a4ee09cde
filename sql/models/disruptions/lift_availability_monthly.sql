{{ config(materialized='view', schema='intermediate') }}
-- One row per operator, month, definition of availability and lift (or other plant), of the dates that are over: the
-- share of the time in which it was usable, in bounds.
select
    days.operator,
    dates.month_period,
    days.definition,
    days.category,
    days.lift,
    count(*) as n_dates,
    cast(sum(days.total_seconds) as bigint) as total_seconds,
    cast(sum(days.covered_seconds) as bigint) as covered_seconds,
    cast(sum(days.out_low_seconds) as bigint) as out_low_seconds,
    cast(sum(days.out_high_seconds) as bigint) as out_high_seconds,
    cast(sum(days.n_failures) as bigint) as n_failures,
    cast(sum(days.n_repairs) as bigint) as n_repairs,
    greatest(1 - cast(sum(days.out_high_seconds) as double) / sum(days.total_seconds), 0) as availability_low,
    1 - cast(sum(days.out_low_seconds) as double) / sum(days.total_seconds) as availability_high
from {{ ref('lift_availability_by_definition') }} as days
inner join {{ ref('closed_dates') }} as dates using (operator, service_date)
group by days.operator, dates.month_period, days.definition, days.category, days.lift
