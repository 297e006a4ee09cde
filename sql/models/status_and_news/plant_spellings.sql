{{ config(materialized='view') }}
-- One row per operator, category and name of a lift or other plant, as the service status or the plant file give it:
-- the plant it is. Names that differ in case, accents, spaces or the word for what it is are one plant.
with named as (
    select
        names.operator,
        episodes.category,
        names.named,
        min(names.named_from) as first_named_at
    from {{ ref('status_episode_lines') }} as names
    inner join {{ ref('status_episodes') }} as episodes using (operator, episode_id)
    where names.is_plant
    group by names.operator, episodes.category, names.named
    union all
    select
        operator,
        category,
        name as named,
        null as first_named_at
    from {{ source('intermediate', 'plant_names') }}
),

keyed as (
    select
        *,
        plant_key(named) as plant_key
    from named
),

registered as (
    select distinct
        operator,
        plant_key(name) as plant_key,
        min(plant) over (partition by operator, plant_key(name)) as plant
    from {{ source('intermediate', 'plant_names') }}
)

select
    keyed.operator,
    keyed.category,
    keyed.named,
    -- without the file, a plant is called what it was called first
    coalesce(
        registered.plant,
        first_value(keyed.named) over (
            partition by keyed.operator, keyed.category, keyed.plant_key order by keyed.first_named_at, keyed.named
        )
    ) as plant,
    keyed.first_named_at
from keyed
left join registered using (operator, plant_key)
