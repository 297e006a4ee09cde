{{ config(materialized='view') }}
-- One row per line, direction and month, of its dates that are over: the share of the line's passages that were on
-- time, with its 95 % interval.
with shares as (
    {{ punctuality_over('period', 'month_period', ['line_code', 'direction'], among=over_dates()) }}
),

figures as (
    select
        {{ shown_direction('shares') }},
        shares.period,
        shares.estimated_on_time_share as figure,
        shares.estimated_on_time_share_low as low,
        shares.estimated_on_time_share_high as high,
        shares.coverage,
        shares.estimate_null_reason as null_reason,
        '' as words_before,
        {{ on_time_words(direction_words('shares')) }},
        {{ when_words('shares.period') }} as when_words,
        {{ on_time_note('shares.coverage') }} as note
    from shares
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    left join {{ named_directions() }} as names using (operator, line_code, direction)
    where shares.line_code is not null
)

{{ headline(['line', 'towards', 'period'], 'share', 6, 100, '%', is_certain=false) }}
