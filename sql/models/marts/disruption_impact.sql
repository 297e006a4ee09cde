{{ config(materialized='view') }}
{%- set n_draws = 200 -%}
-- One row per episode and line it names: punctuality in the hours it covered at least half of, against the hours of the
-- same line, weekday type and hour of day within four weeks in which no episode of the line was listed.
-- Visits count by their likeliest moment. The interval holds 95 % of the differences of 200 draws of the hours
-- (Poisson bootstrap, the same draws every time).
with lines_named as (
    select distinct
        operator,
        line_code,
        {{ plain_label('line_number') }} as plain_number
    from {{ ref('lines') }}
),

named as (
    select
        operator,
        episode_id,
        coalesce(started_at, first_seen_at) as from_at,
        ended_after as low_to_at,
        coalesce(ended_before, ended_after) as high_to_at,
        {{ each_of('lines') }} as line_number
    from {{ ref('disruptions') }}
),

episodes as (
    select distinct
        named.operator,
        named.episode_id,
        lines_named.line_code,
        named.from_at,
        named.low_to_at,
        named.high_to_at
    from named
    inner join lines_named
        on
            named.operator = lines_named.operator
            and {{ plain_label('named.line_number') }} = lines_named.plain_number
),

hours as (
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
    inner join {{ ref('service_days') }} as days
        on counts.operator = days.operator and counts.service_date = days.service_date
    where counts.line_code is not null
    group by counts.operator, counts.service_date, counts.line_code, counts.service_hour, days.zero_at
),

during as (
    select
        episodes.episode_id,
        hours.*
    from episodes
    inner join hours
        on
            episodes.operator = hours.operator
            and episodes.line_code = hours.line_code
            and {{ seconds_between(
                'greatest(episodes.from_at, hours.from_at)', 'least(episodes.low_to_at, hours.to_at)'
            ) }} >= 1800
),

undisturbed as (
    select hours.*
    from hours
    where
        not exists (
            select 1
            from episodes
            where
                hours.operator = episodes.operator
                and hours.line_code = episodes.line_code
                and episodes.from_at < hours.to_at
                and episodes.high_to_at > hours.from_at
        )
),

compared as (
    -- hours of a weekday type and hour of day that has decided visits both during the episode and without one
    select
        during.operator,
        during.episode_id,
        during.line_code,
        during.weekday_type,
        during.service_hour,
        during.service_date,
        true as is_during,
        during.n_on_time,
        during.n_judged
    from during
    where during.n_judged > 0
    union all
    select
        places.operator,
        places.episode_id,
        places.line_code,
        places.weekday_type,
        places.service_hour,
        undisturbed.service_date,
        false as is_during,
        undisturbed.n_on_time,
        undisturbed.n_judged
    from (
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
    ) as places
    inner join undisturbed
        on
            places.operator = undisturbed.operator
            and places.line_code = undisturbed.line_code
            and places.weekday_type = undisturbed.weekday_type
            and places.service_hour = undisturbed.service_hour
            and undisturbed.service_date between places.first_date - 28 and places.last_date + 28
    where undisturbed.n_judged > 0
),

draws as (
    -- draw 0 takes every hour once; the others each as often as chance has it (Poisson with mean 1)
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
            compared.*,
            numbers.number - 1 as draw,
            {{ chance(
                'compared.line_code, compared.service_date, compared.service_hour, compared.is_during, numbers.number'
            ) }} as chance
        from compared
        cross join {{ numbers(n_draws + 1) }} as numbers
    ) as chances
),

drawn as (
    select
        operator,
        episode_id,
        line_code,
        draw,
        sum(case when is_during then weight * n_on_time else 0 end) as n_on_time_during,
        sum(case when is_during then weight * n_judged else 0 end) as n_during,
        sum(case when is_during then 0 else weight * n_on_time end) as n_on_time_without,
        sum(case when is_during then 0 else weight * n_judged end) as n_without,
        count(case when is_during then 1 end) as n_hours_during,
        count(case when not is_during then 1 end) as n_hours_without
    from draws
    group by operator, episode_id, line_code, weekday_type, service_hour, draw
    having
        sum(case when is_during then weight * n_judged else 0 end) > 0
        and sum(case when is_during then 0 else weight * n_judged end) > 0
),

differences as (
    -- what was to be expected gives each hour of day the weight it has during the episode
    select
        operator,
        episode_id,
        line_code,
        draw,
        cast(sum(n_hours_during) as bigint) as n_hours_during,
        cast(sum(n_hours_without) as bigint) as n_hours_without,
        cast(sum(n_during) as bigint) as n_judged_during,
        cast(sum(n_on_time_during) as double) / sum(n_during) as on_time_share_during,
        sum(cast(n_during * n_on_time_without as double) / n_without) / sum(n_during) as on_time_share_expected
    from drawn
    group by operator, episode_id, line_code, draw
),

intervals as (
    select
        operator,
        episode_id,
        line_code,
        {{ quantile('on_time_share_during - on_time_share_expected', 0.025) }} as impact_low,
        {{ quantile('on_time_share_during - on_time_share_expected', 0.975) }} as impact_high
    from differences
    where draw > 0
    group by operator, episode_id, line_code
),

hours_during as (
    select
        operator,
        episode_id,
        line_code,
        count(*) as n_hours,
        cast(sum(n_judged) as bigint) as n_judged,
        cast(sum(n_indeterminate) as bigint) as n_indeterminate
    from during
    group by operator, episode_id, line_code
)

select
    episodes.operator,
    episodes.episode_id,
    episodes.line_code,
    episodes.from_at,
    episodes.low_to_at as to_at,
    coalesce(hours_during.n_hours, 0) as n_hours,
    coalesce(hours_during.n_judged, 0) as n_judged,
    coalesce(hours_during.n_indeterminate, 0) as n_indeterminate,
    coalesce(differences.n_hours_during, 0) as n_hours_compared,
    coalesce(differences.n_hours_without, 0) as n_hours_without,
    case
        when coalesce(hours_during.n_hours, 0) = 0 then 'no hour covered'
        when coalesce(hours_during.n_judged, 0) = 0 then 'no visit judged'
        when differences.episode_id is null then 'no hour to compare with'
        when least(differences.n_hours_during, differences.n_hours_without) < 2 then 'too few hours'
    end as null_reason,
    differences.on_time_share_during,
    differences.on_time_share_expected,
    case
        when least(differences.n_hours_during, differences.n_hours_without) >= 2
            then differences.on_time_share_during - differences.on_time_share_expected
    end as impact,
    case
        when least(differences.n_hours_during, differences.n_hours_without) >= 2 then intervals.impact_low
    end as impact_low,
    case
        when least(differences.n_hours_during, differences.n_hours_without) >= 2 then intervals.impact_high
    end as impact_high
from episodes
left join hours_during
    on
        episodes.operator = hours_during.operator
        and episodes.episode_id = hours_during.episode_id
        and episodes.line_code = hours_during.line_code
left join differences
    on
        episodes.operator = differences.operator
        and episodes.episode_id = differences.episode_id
        and episodes.line_code = differences.line_code
        and differences.draw = 0
left join intervals
    on
        episodes.operator = intervals.operator
        and episodes.episode_id = intervals.episode_id
        and episodes.line_code = intervals.line_code
