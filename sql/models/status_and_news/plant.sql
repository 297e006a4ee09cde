{{ config(schema='core', materialized='table', meta={'reads_all_dates': 'a lift may never have failed'}) }}
-- One row per operator, category and lift or other plant that was ever named, or is in the plant file.
with names as (
    select
        operator,
        category,
        plant,
        count(distinct named) as n_names,
        min(first_named_at) as first_named_at
    from {{ ref('plant_spellings') }}
    group by operator, category, plant
),

registered as (
    select
        operator,
        plant,
        min(opens_seconds) as opens_seconds,
        max(closes_seconds) as closes_seconds
    from {{ source('intermediate', 'plant_names') }}
    group by operator, plant
)

select
    names.operator,
    names.category,
    names.plant,
    names.n_names,
    names.first_named_at,
    registered.plant is not null as is_registered,
    registered.opens_seconds,
    registered.closes_seconds
from names
left join registered using (operator, plant)
