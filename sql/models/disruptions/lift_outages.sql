{{ config(materialized='table', meta={'reads_all_dates': 'an outage may last for many days'}) }}
{%- set grain = "operator, definition, category, lift" %}
-- One row per operator, definition of availability, lift (or other plant) and outage: a stretch of time in which it may
-- have been out of use. In `low_seconds` of it a notice said so.
with outages as (
    select
        possible.operator,
        possible.definition,
        possible.category,
        possible.lift,
        possible.from_at as begun_after,
        possible.to_at as ended_before,
        min(told.from_at) as begun_before,
        max(told.to_at) as ended_after,
        sum(seconds_between(told.from_at, told.to_at)) as low_seconds
    from (
        select * from {{ ref('lift_stretches') }}
        where bound = 'high'
    ) as possible
    left join (
        select * from {{ ref('lift_stretches') }}
        where bound = 'told'
    ) as told
        on
            possible.operator = told.operator
            and possible.definition = told.definition
            and possible.category = told.category
            and possible.lift = told.lift
            and told.from_at >= possible.from_at
            and told.to_at <= possible.to_at
    group by possible.operator, possible.definition, possible.category, possible.lift, possible.from_at, possible.to_at
)

select
    {{ grain }},
    row_number() over (partition by {{ grain }} order by begun_after) as outage_number,
    begun_after,
    begun_before,
    ended_after,
    nullif(ended_before, timestamp '9999-12-31') as ended_before,
    ended_before = timestamp '9999-12-31' as is_open,
    begun_before is not null as is_certain,
    cast(floor(coalesce(low_seconds, 0)) as bigint) as low_seconds,
    case
        when ended_before < timestamp '9999-12-31'
            then cast(ceil(seconds_between(begun_after, ended_before)) as bigint)
    end as high_seconds
from outages
