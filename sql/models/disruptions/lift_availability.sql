{{ config(materialized='view') }}
-- One row per operator, service_date and lift (or other plant): how long it was out of use in the hours that are over,
-- by the default definition (`lift_definitions`).
select
    days.operator,
    days.service_date,
    days.lift,
    days.category,
    days.definition,
    days.total_seconds,
    days.covered_seconds,
    days.out_low_seconds,
    days.out_high_seconds,
    days.n_failures,
    days.n_repairs,
    days.is_open,
    days.null_reason,
    days.ruleset_version
from {{ ref('lift_availability_by_definition') }} as days
inner join {{ ref('lift_definitions') }} as definitions using (definition)
where definitions.is_default
