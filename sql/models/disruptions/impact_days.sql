{{ config(schema='intermediate', materialized='table', meta={'reads_all_dates': 'it is compared with eight weeks'}) }}
{%- set days_back = 56 -%}
{%- set line_episode = "operator, episode_id, line_code" -%}
-- One row per episode, line, metric, date of the episode and date: the metric of the line, minus that of the network,
-- in the hours of that date that the episode covers at least half of; and in the same hours of earlier dates to
-- compare with. These are of the same weekday type, in the eight weeks before the episode began, and in the same other
-- episodes of the line, mostly none. The window is fixed by the episode, so that its figure does not move as dates
-- come. The network is taken off because weather and traffic change all lines: it is the other lines, where they are in
-- no episode themselves.
with hours as (
    select
        operator,
        service_date,
        service_hour,
        from_at,
        to_at,
        weekday_type(service_date) as weekday_type
    from {{ ref('service_hours') }}
),

possible as (
    -- the hours in which an episode of a line may have lasted
    select distinct
        episodes.operator,
        episodes.episode_id,
        episodes.line_code,
        hours.service_date,
        hours.service_hour,
        seconds_between(
            greatest(episodes.from_at, hours.from_at), least(episodes.low_to_at, hours.to_at)
        ) >= 1800 as is_during
    from {{ ref('line_episodes') }} as episodes
    inner join hours
        on
            episodes.operator = hours.operator
            and episodes.high_from_at < hours.to_at
            and episodes.high_to_at > hours.from_at
),

first_dates as (
    select
        {{ line_episode }},
        min(service_date) as first_date
    from possible
    group by {{ line_episode }}
),

states as (
    select
        operator,
        line_code,
        service_date,
        service_hour,
        array_sort(collect_set(episode_id)) as episodes
    from possible
    group by operator, line_code, service_date, service_hour
),

during as (
    select
        possible.operator,
        possible.episode_id,
        possible.line_code,
        possible.service_date,
        possible.service_hour,
        hours.weekday_type,
        first_dates.first_date,
        array_join(array_remove(states.episodes, possible.episode_id), ',') as other_episodes
    from possible
    inner join hours using (operator, service_date, service_hour)
    inner join first_dates using ({{ line_episode }})
    inner join states using (operator, line_code, service_date, service_hour)
    where possible.is_during
),

measures as (
    select
        measures.*,
        hours.weekday_type,
        coalesce(array_join(states.episodes, ','), '') as episodes,
        case when states.episodes is null then 1 else 0 end as own_share  -- of the line in the sums of the network
    from {{ ref('line_measures') }} as measures
    inner join hours using (operator, service_date, service_hour)
    left join states using (operator, line_code, service_date, service_hour)
    cross join {{ ref('inference_parameters') }} as parameters
    where
        measures.seen_share >= parameters.impact_seen_share
        and (measures.operator, measures.line_code) in (
            select
                first_dates.operator,
                first_dates.line_code
            from first_dates
        )
),

network as (
    -- of all lines that are in no episode
    select
        measures.operator,
        measures.service_date,
        measures.service_hour,
        measures.metric,
        sum(measures.first_sum) as first_sum,
        sum(measures.first_weight) as first_weight,
        sum(measures.second_sum) as second_sum,
        sum(measures.second_weight) as second_weight
    from {{ ref('line_measures') }} as measures
    left join states using (operator, line_code, service_date, service_hour)
    where states.episodes is null
    group by measures.operator, measures.service_date, measures.service_hour, measures.metric
),

compared as (
    select
        during.operator,
        during.episode_id,
        during.line_code,
        during.service_date as episode_date,
        during.service_hour,
        measures.service_date as measured_date,
        measures.service_date = during.service_date as is_during,
        measures.metric,
        measures.first_sum,
        measures.first_weight,
        measures.second_sum,
        measures.second_weight,
        network.first_sum - measures.own_share * measures.first_sum as network_first_sum,
        network.first_weight - measures.own_share * measures.first_weight as network_first_weight,
        network.second_sum - measures.own_share * measures.second_sum as network_second_sum,
        network.second_weight - measures.own_share * measures.second_weight as network_second_weight
    from during
    inner join measures
        on
            during.operator = measures.operator
            and during.line_code = measures.line_code
            and during.service_hour = measures.service_hour
            and during.weekday_type = measures.weekday_type
            and (
                during.service_date = measures.service_date
                or during.other_episodes = measures.episodes
                and measures.service_date between during.first_date - {{ days_back }} and during.first_date - 1
            )
    inner join network
        on
            measures.operator = network.operator
            and measures.service_date = network.service_date
            and measures.service_hour = network.service_hour
            and measures.metric = network.metric
)

select
    operator,
    episode_id,
    line_code,
    metric,
    episode_date,
    measured_date,
    is_during,
    count(*) as n_hours,
    sum(first_weight) as weight,
    sum(first_sum) / sum(first_weight) - sum(second_sum) / sum(second_weight) as line_value,
    sum(network_first_sum) / sum(network_first_weight) - sum(network_second_sum) / sum(network_second_weight)
        as network_value
from compared
where network_first_weight > 1e-9 and network_second_weight > 1e-9
group by operator, episode_id, line_code, metric, episode_date, measured_date, is_during
