{{ config(materialized='view') }}
-- One row per stop and month, of its dates that are over: the share of the passages at the stop that were on time, with
-- its 95 % interval.
with shares as (
    {{ stop_punctuality_over('period', 'month_period', ['stop_code'], among=over_dates()) }}
),

stops as (
    select
        operator,
        stop_code,
        coalesce(nullif(trim(stop_name), '') || ' (' || stop_code || ')', stop_code) as shown_stop
    from {{ ref('stops') }}
),

figures as (
    select
        coalesce(stops.shown_stop, shares.stop_code) as stop,
        shares.period,
        shares.estimated_on_time_share as figure,
        shares.estimated_on_time_share_low as low,
        shares.estimated_on_time_share_high as high,
        shares.coverage,
        shares.estimate_null_reason as null_reason,
        '' as words_before,
        {{ on_time_words("'all lines at stop ' || coalesce(stops.shown_stop, shares.stop_code)") }},
        {{ when_words('shares.period') }} as when_words,
        {{ on_time_note('shares.coverage') }} as note
    from shares
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    left join stops using (operator, stop_code)
)

{{ headline(['stop', 'period'], 'share', 6, 100, '%', is_certain=false) }}
