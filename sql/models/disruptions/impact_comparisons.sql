{{ config(schema='intermediate', materialized='view') }}
{%- set line_episode = "operator, episode_id, line_code, metric, episode_date" -%}
-- One row per episode, line, metric, date of the episode and earlier date that it is compared with, with the mean and
-- the spread of all such dates. A date with fewer than half of the hours is none.
with counted as (
    select
        {{ line_episode }},
        measured_date,
        line_value - network_value as value,
        count(*) over one_date as n_dates,
        avg(line_value - network_value) over one_date as mean_value,
        var_samp(line_value - network_value) over one_date as variance
    from (
        select
            *,
            max(case when is_during then n_hours end) over (partition by {{ line_episode }}) as n_episode_hours
        from {{ ref('impact_days') }}
    ) as days
    where not is_during and n_hours >= 0.5 * n_episode_hours
    window one_date as (partition by {{ line_episode }})
)

select counted.*
from counted
cross join {{ ref('inference_parameters') }} as parameters
where counted.n_dates >= parameters.impact_fewest_dates
