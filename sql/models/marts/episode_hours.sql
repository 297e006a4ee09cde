{{ config(schema='intermediate', materialized='view') }}
-- One row per episode, line, service_date and service_hour: the punctuality of the line in the hours that the episode
-- covers at least half of, and in those that these are compared with: of the same weekday type and hour of day, within
-- four weeks, without any episode of the line.
{%- set columns = "operator, episode_id, line_code, service_date, service_hour, weekday_type" %}
with hours as (
    select
        counts.operator,
        counts.service_date,
        counts.line_code,
        counts.service_hour,
        {{ weekday_type('counts.service_date') }} as weekday_type,
        {{ add_seconds('days.zero_at', '3600 * counts.service_hour') }} as from_at,
        {{ add_seconds('days.zero_at', '3600 * (counts.service_hour + 1)') }} as to_at,
        sum(counts.n_likely_on_time) as n_on_time,
        sum(counts.n_likely_early + counts.n_likely_on_time + counts.n_likely_late) as n_judged,
        sum(counts.n_indeterminate) as n_indeterminate
    from {{ ref('punctuality') }} as counts
    inner join {{ ref('service_days') }} as days using (operator, service_date)
    where counts.line_code is not null
    group by counts.operator, counts.service_date, counts.line_code, counts.service_hour, days.zero_at
),

during as (
    select
        episodes.episode_id,
        hours.*
    from {{ ref('line_episodes') }} as episodes
    inner join hours
        on
            episodes.operator = hours.operator
            and episodes.line_code = hours.line_code
            and {{ seconds_between(
                'greatest(episodes.from_at, hours.from_at)', 'least(episodes.low_to_at, hours.to_at)'
            ) }} >= 1800
),

undisturbed as (
    select *
    from hours
    where
        n_judged > 0
        and not exists (
            select 1
            from {{ ref('line_episodes') }} as episodes
            where
                hours.operator = episodes.operator
                and hours.line_code = episodes.line_code
                and episodes.high_from_at < hours.to_at
                and episodes.high_to_at > hours.from_at
        )
),

hours_of_day as (
    select
        operator,
        episode_id,
        line_code,
        weekday_type,
        service_hour,
        min(service_date) as first_date,
        max(service_date) as last_date
    from during
    where n_judged > 0
    group by operator, episode_id, line_code, weekday_type, service_hour
)

select
    {{ columns }},
    true as is_during,
    n_on_time,
    n_judged,
    n_indeterminate
from during
union all
select
    {{ columns }},
    false as is_during,
    n_on_time,
    n_judged,
    n_indeterminate
from hours_of_day
inner join undisturbed using (operator, line_code, weekday_type, service_hour)
where service_date between first_date - 28 and last_date + 28
