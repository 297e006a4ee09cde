{{ config(materialized='table', meta={'reads_all_dates': 'an outage may last for many days'}) }}
{%- set keys = ['operator', 'definition', 'category', 'lift'] %}
{%- set lift_day = "operator, service_date, definition, category, lift" %}
-- One row per operator, service_date, definition of availability and lift (or other plant): how long it was out of use
-- in the hours that are over, and how often it failed. One that was never named but is in the plant file was never out
-- of use. Time in which the service status was not watched is in the upper bound, and so are the `told_late_seconds`
-- before it: what began then may have been listed when nobody looked.
with days as (
    select
        hours.operator,
        hours.service_date,
        plant.category,
        plant.plant as lift,
        definitions.definition,
        min(greatest(
            hours.from_at,
            case
                when definitions.uses_service_hours and plant.opens_seconds is not null
                    then add_seconds(dates.zero_at, plant.opens_seconds)
                else hours.from_at
            end
        )) as from_at,
        max(least(
            hours.to_at,
            case
                when definitions.uses_service_hours and plant.closes_seconds is not null
                    then add_seconds(dates.zero_at, plant.closes_seconds)
                else hours.to_at
            end
        )) as to_at
    from {{ ref('service_hours') }} as hours
    inner join {{ ref('service_days') }} as dates using (operator, service_date)
    inner join {{ ref('plant') }} as plant using (operator)
    cross join {{ ref('lift_definitions') }} as definitions
    group by hours.operator, hours.service_date, plant.category, plant.plant, definitions.definition
),

unwatched as (
    select
        plant.operator,
        definitions.definition,
        plant.category,
        plant.plant as lift,
        gaps.from_at,
        gaps.to_at,
        add_seconds(gaps.from_at, -parameters.told_late_seconds) as told_to
    from {{ ref('plant') }} as plant
    inner join {{ ref('status_unwatched') }} as gaps using (operator)
    cross join {{ ref('lift_definitions') }} as definitions
    cross join {{ ref('inference_parameters') }} as parameters
    where gaps.category_asked = ''
),

possible as (
    -- together with the time that nobody watched, and that of which nobody was told in time
    select
        {{ keys | join(", ") }},
        from_at as high_from,
        to_at as high_to
    from {{ ref('lift_stretches') }}
    where bound = 'high'
    union all
    select
        {{ keys | join(", ") }},
        told_to as high_from,
        to_at as high_to
    from unwatched
),

intervals as (
    select
        {{ keys | join(", ") }},
        bound,
        from_at,
        to_at
    from ({{ merged_intervals('possible', keys, bounds=['high']) }}) as merged
    union all
    select
        {{ keys | join(", ") }},
        bound,
        from_at,
        to_at
    from {{ ref('lift_stretches') }}
    where bound = 'low'
    union all
    select
        {{ keys | join(", ") }},
        'unwatched' as bound,
        from_at,
        to_at
    from unwatched
),

shares as (
    select
        days.*,
        intervals.bound,
        seconds_between(greatest(intervals.from_at, days.from_at), least(intervals.to_at, days.to_at)) as seconds
    from days
    left join intervals
        on
            days.operator = intervals.operator
            and days.definition = intervals.definition
            and days.category = intervals.category
            and days.lift = intervals.lift
            and intervals.from_at < days.to_at
            and intervals.to_at > days.from_at
    where days.from_at < days.to_at
),

sums as (
    select
        {{ lift_day }},
        from_at,
        to_at,
        coalesce({{ exact_sum("case when bound = 'low' then seconds else 0 end") }}, 0) as low_seconds,
        coalesce({{ exact_sum("case when bound = 'high' then seconds else 0 end") }}, 0) as high_seconds,
        coalesce({{ exact_sum("case when bound = 'unwatched' then seconds else 0 end") }}, 0) as unwatched_seconds
    from shares
    group by {{ lift_day }}, from_at, to_at
),

counts as (
    select
        sums.operator,
        sums.service_date,
        sums.definition,
        sums.category,
        sums.lift,
        count(case when outages.begun_before >= sums.from_at and outages.begun_before < sums.to_at then 1 end)
            as n_failures,
        count(case when outages.ended_before >= sums.from_at and outages.ended_before < sums.to_at then 1 end)
            as n_repairs,
        coalesce(max(case when outages.is_open then 1 else 0 end), 0) = 1 as is_open
    from sums
    left join {{ ref('lift_outages') }} as outages
        on
            sums.operator = outages.operator
            and sums.definition = outages.definition
            and sums.category = outages.category
            and sums.lift = outages.lift
            and outages.is_certain
            and outages.begun_after < sums.to_at
            and coalesce(outages.ended_before >= sums.from_at, true)
    group by sums.operator, sums.service_date, sums.definition, sums.category, sums.lift
)

select
    {{ lift_day }},
    cast(round(seconds_between(sums.from_at, sums.to_at)) as bigint) as total_seconds,
    cast(round(seconds_between(sums.from_at, sums.to_at) - sums.unwatched_seconds) as bigint)
        as covered_seconds,
    cast(floor(sums.low_seconds) as bigint) as out_low_seconds,
    cast(ceil(sums.high_seconds) as bigint) as out_high_seconds,
    counts.n_failures,
    counts.n_repairs,
    counts.is_open,
    case
        when
            sums.unwatched_seconds > (1 - rules.coverage_threshold)
            * seconds_between(sums.from_at, sums.to_at) then 'coverage under threshold'
    end as null_reason,
    rules.ruleset_version
from sums
inner join counts using ({{ lift_day }})
{{ join_rules('sums.service_date') }}
