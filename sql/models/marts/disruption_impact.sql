{{ config(materialized='view') }}
{%- set n_draws = 200 -%}
{%- set line_episode = "operator, episode_id, line_code" -%}
-- One row per episode and line it names: the line's on-time share in the hours of the episode minus its share in
-- comparable hours without one, by the point estimate of each passage.
-- The interval holds 95 % of the differences in 200 draws of the hours: a Poisson bootstrap, with the same draws in
-- every run.
with draws as (
    -- draw 0 takes every hour once; the others each as often as a Poisson distribution with mean 1 gives
    select
        *,
        case
            when draw = 0 then 1
            when chance < 0.367879 then 0
            when chance < 0.735759 then 1
            when chance < 0.919699 then 2
            when chance < 0.981012 then 3
            when chance < 0.996340 then 4
            else 5
        end as weight
    from (
        select
            hours.*,
            numbers.number - 1 as draw,
            {{ chance(
                'hours.line_code, hours.service_date, hours.service_hour, hours.is_during, numbers.number'
            ) }} as chance
        from {{ ref('episode_hours') }} as hours
        cross join {{ numbers(n_draws + 1) }} as numbers
        where hours.n_judged > 0
    ) as chances
),

hours_of_day as (
    select
        {{ line_episode }},
        draw,
        sum(case when is_during then weight * n_on_time else 0 end) as n_on_time_during,
        sum(case when is_during then weight * n_judged else 0 end) as n_judged_during,
        sum(case when is_during then 0 else weight * n_on_time end) as n_on_time_without,
        sum(case when is_during then 0 else weight * n_judged end) as n_judged_without,
        count(case when is_during then 1 end) as n_hours_during,
        count(case when not is_during then 1 end) as n_hours_without
    from draws
    group by {{ line_episode }}, weekday_type, service_hour, draw
),

shares as (
    -- the expected share gives each hour of day the weight it has during the episode
    select
        {{ line_episode }},
        draw,
        cast(sum(n_hours_during) as bigint) as n_hours_compared,
        cast(sum(n_hours_without) as bigint) as n_hours_without,
        cast(sum(n_on_time_during) as double) / sum(n_judged_during) as on_time_share_during,
        -- decimals, because a sum of them does not depend on the order of the rows
        sum(cast(cast(n_judged_during * n_on_time_without as double) / n_judged_without as decimal(18, 9)))
        / sum(n_judged_during) as on_time_share_expected
    from hours_of_day
    where n_judged_during > 0 and n_judged_without > 0
    group by {{ line_episode }}, draw
),

compared as (
    select
        {{ line_episode }},
        {%- for name in ["n_hours_compared", "n_hours_without", "on_time_share_during", "on_time_share_expected"] %}
            max(case when draw = 0 then {{ name }} end) as {{ name }},
        {%- endfor %}
        {{ quantile('case when draw > 0 then on_time_share_during - on_time_share_expected end', 0.025) }}
            as impact_low,
        {{ quantile('case when draw > 0 then on_time_share_during - on_time_share_expected end', 0.975) }}
            as impact_high
    from shares
    group by {{ line_episode }}
),

during as (
    select
        {{ line_episode }},
        count(*) as n_hours,
        cast(sum(n_judged) as bigint) as n_judged,
        cast(sum(n_indeterminate) as bigint) as n_indeterminate
    from {{ ref('episode_hours') }}
    where is_during
    group by {{ line_episode }}
),

impacts as (
    select
        {{ line_episode }},
        episodes.from_at,
        episodes.low_to_at as to_at,
        {%- for count in ["n_hours", "n_judged", "n_indeterminate", "n_hours_compared", "n_hours_without"] %}
            coalesce({{ count }}, 0) as {{ count }},
        {%- endfor %}
        case
            when during.n_hours is null then 'no hour covered'
            when during.n_judged = 0 then 'no visit judged'
            when compared.n_hours_compared is null then 'no hour to compare with'
            when least(compared.n_hours_compared, compared.n_hours_without) < 2 then 'too few hours'
        end as null_reason,
        compared.on_time_share_during,
        compared.on_time_share_expected,
        compared.on_time_share_during - compared.on_time_share_expected as impact,
        compared.impact_low,
        compared.impact_high
    from {{ ref('line_episodes') }} as episodes
    left join during using ({{ line_episode }})
    left join compared using ({{ line_episode }})
)

select
    * replace (
        {%- for difference in ["impact", "impact_low", "impact_high"] %}
            case when null_reason is null then {{ difference }} end as {{ difference }}
            {{- "," if not loop.last }}
        {%- endfor %}
    )
from impacts
