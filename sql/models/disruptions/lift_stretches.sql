{{ config(schema='intermediate', materialized='table', meta={'reads_all_dates': 'an outage may last for many days'}) }}
{%- set keys = ['operator', 'definition', 'category', 'lift'] %}
{%- set grain = keys | join(", ") %}
-- One row per operator, definition of availability, lift (or other plant), bound and stretch of time in which it was
-- out of use: as a notice said (`told`), for certain (`low`), or perhaps (`high`), by one notice or several. A notice
-- may stay listed after the lift runs again: its last `told_late_seconds` are not certain. What planned works and a
-- notice that does not say it count as, the definition says (`lift_definitions`); shorter hours and a lift that runs
-- again are no outage.
with notices as (
    select
        episodes.operator,
        definitions.definition,
        spellings.category,
        spellings.plant as lift,
        episodes.effect_class != 'out_of_use' and definitions.unknown_counts = 'bounds' as is_unsure,
        stretches.low_from as told_from,
        stretches.low_to as told_to,
        stretches.high_from,
        coalesce(stretches.high_to, timestamp '9999-12-31') as high_to,
        add_seconds(stretches.listed_to, -parameters.told_late_seconds) as certain_to
    from {{ ref('disruptions') }} as episodes
    inner join {{ ref('status_stretches') }} as stretches using (episode_id)
    inner join {{ ref('plant_spellings') }} as spellings
        on
            episodes.operator = spellings.operator
            and episodes.category = spellings.category
            and stretches.named = spellings.named
    cross join {{ ref('lift_definitions') }} as definitions
    cross join {{ ref('inference_parameters') }} as parameters
    where
        episodes.is_plant
        and episodes.effect_class not in ('reduced_hours', 'restored')
        and (definitions.counts_planned or episodes.cause_class != 'works')
        and (episodes.effect_class = 'out_of_use' or definitions.unknown_counts != 'up')
),

bounded as (
    select
        {{ grain }},
        told_from,
        case when is_unsure then told_from else told_to end as told_to,
        told_from as low_from,
        case when is_unsure then told_from else least(told_to, certain_to) end as low_to,
        high_from,
        high_to
    from notices
)

{{ merged_intervals('bounded', keys, bounds=['told', 'low', 'high']) }}
