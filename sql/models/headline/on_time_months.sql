{{ config(materialized='view') }}
-- One row per month, of its dates that are over: the share of the network's passages that were on time, with its 95 %
-- interval.
with shares as (
    {{ punctuality_over('period', 'month_period', [], among=over_dates()) }}
),

figures as (
    select
        shares.period,
        shares.estimated_on_time_share as figure,
        shares.estimated_on_time_share_low as low,
        shares.estimated_on_time_share_high as high,
        shares.coverage,
        shares.estimate_null_reason as null_reason,
        '' as words_before,
        {{ on_time_words("'all lines of ' || shares.operator") }},
        {{ when_words('shares.period') }} as when_words,
        {{ on_time_note('shares.coverage') }} as note
    from shares
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
)

{{ headline(['period'], 'share', 6, 100, '%', is_certain=false) }}
