{{ config(materialized='table', meta={'reads_all_dates': 'an episode is compared with eight weeks'}) }}
{%- set line_episode = "operator, episode_id, line_code" -%}
-- One row per episode, line it is about, and metric: the metric of the line in the hours of the episode, minus what it
-- was in comparable hours before it (`impact_days`), both taken against the network in the same hours. The 95 %
-- interval has the spread between the dates compared, of which each counts once, however many hours it has: one more
-- date would differ from their mean by that spread. It is of Student's t distribution.
with dates as (
    select
        {{ line_episode }},
        metric,
        episode_date,
        max(n_dates) as n_dates,
        max(mean_value) as mean_value,
        max(variance) as variance
    from {{ ref('impact_comparisons') }}
    group by {{ line_episode }}, metric, episode_date
),

during as (
    select
        days.operator,
        days.episode_id,
        days.line_code,
        days.metric,
        days.n_hours,
        days.weight,
        days.line_value,
        days.line_value - days.network_value - dates.mean_value as difference,
        dates.n_dates,
        dates.variance
    from {{ ref('impact_days') }} as days
    left join dates using (operator, episode_id, line_code, metric, episode_date)
    where days.is_during
),

sums as (
    select
        {{ line_episode }},
        metric,
        cast(sum(n_hours) as bigint) as n_hours,
        cast(sum(case when n_dates is not null then n_hours else 0 end) as bigint) as n_hours_compared,
        min(n_dates) as n_dates_compared,
        sum(case when n_dates is not null then weight end) as weight,
        sum(case when n_dates is not null then weight * line_value end) as during_sum,
        sum(case when n_dates is not null then weight * difference end) as difference_sum,
        sum(case when n_dates is not null then weight * weight * variance end) as own_variance_sum,
        -- the dates compared may be the same for all dates of the episode
        sum(case when n_dates is not null then weight * sqrt(variance / n_dates) end) as common_error_sum
    from during
    group by {{ line_episode }}, metric
),

impacts as (
    select
        *,
        during_sum / weight as during_value,
        difference_sum / weight as difference,
        {{ t_quantile('n_dates_compared - 1') }}
        * sqrt(own_variance_sum + common_error_sum * common_error_sum) / weight as half_width
    from sums
)

select
    episodes.operator,
    episodes.episode_id,
    episodes.line_code,
    metrics.metric,
    episodes.from_at,
    episodes.low_to_at as to_at,
    coalesce(impacts.n_hours, 0) as n_hours,
    coalesce(impacts.n_hours_compared, 0) as n_hours_compared,
    coalesce(impacts.n_dates_compared, 0) as n_dates_compared,
    case
        when impacts.n_hours is null then 'nothing due while polled'
        when impacts.n_dates_compared is null then 'no hour to compare with'
    end as null_reason,
    impacts.during_value,
    impacts.during_value - impacts.difference as expected_value,
    impacts.difference as impact,
    impacts.difference - impacts.half_width as impact_low,
    impacts.difference + impacts.half_width as impact_high
from {{ ref('line_episodes') }} as episodes
cross join (
    values ('on_time_share'), ('gaps_share'), ('excess_wait_seconds'), ('not_run_share')
) as metrics (metric)
left join impacts
    on
        episodes.operator = impacts.operator
        and episodes.episode_id = impacts.episode_id
        and episodes.line_code = impacts.line_code
        and metrics.metric = impacts.metric
