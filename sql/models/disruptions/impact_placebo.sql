{{ config(materialized='table', meta={'reads_all_dates': 'an episode is compared with eight weeks'}) }}
-- One row per operator and metric: how often the interval of an impact leaves out 0 where there was no episode. Each
-- date that an episode is compared with is taken as the date of an episode, and compared with the others in the same
-- way. Where intervals are right, one in twenty does.
with others as (
    select
        operator,
        metric,
        n_dates,
        value - (n_dates * mean_value - value) / (n_dates - 1) as difference,
        ((n_dates - 1) * variance - n_dates * (value - mean_value) * (value - mean_value) / (n_dates - 1))
        / (n_dates - 2) as variance
    from {{ ref('impact_comparisons') }}
),

judged as (
    select
        operator,
        metric,
        case
            when
                abs(difference)
                > {{ t_quantile('n_dates - 2') }} * sqrt(greatest(variance, 0) * (1 + 1.0 / (n_dates - 1))) + 1e-9
                then 1
        end as is_apart
    from others
)

select
    operator,
    metric,
    count(*) as n_placebos,
    count(is_apart) as n_apart,
    cast(count(is_apart) as double) / count(*) as placebo_rate
from judged
group by operator, metric
