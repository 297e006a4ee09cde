{{ config(materialized='view') }}
-- One row per lift and month, of its dates that are over: the share of the watched time in which the lift was usable.
-- Low and high are hard bounds, the figure is the middle between them. Only lifts that failed are known.
with sums as (
    select
        operator,
        month_period as period,
        lift,
        count(*) as n_dates,
        sum(case when null_reason is null then total_seconds else 0 end) as total_seconds,
        sum(case when null_reason is null then out_low_seconds else 0 end) as out_low_seconds,
        sum(case when null_reason is null then out_high_seconds else 0 end) as out_high_seconds,
        sum(covered_seconds) as covered_seconds,
        sum(n_failures) as n_failures,
        min(null_reason) as date_null_reason
    from {{ ref('lift_availability') }}
    {{ over_dates() }}
    group by operator, month_period, lift
),

bounds as (
    select
        *,
        1 - cast(out_high_seconds as double) / nullif(total_seconds, 0) as low,
        1 - cast(out_low_seconds as double) / nullif(total_seconds, 0) as high,
        case when total_seconds = 0 then date_null_reason end as null_reason
    from sums
),

figures as (
    select
        lift,
        period,
        (low + high) / 2 as figure,
        low,
        high,
        least(covered_seconds / (n_dates * 86400.0), 1) as coverage,
        null_reason,
        'Lift ' || lift || ' was usable ' as words_before,
        ' of the watched time' as words_after,
        'what share of the time lift ' || lift || ' was usable' as question,
        {{ when_words('period') }} as when_words,
        'failures that began then: ' || {{ count_text('n_failures') }} || '; the service status was watched '
        || {{ percent_text('least(covered_seconds / (n_dates * 86400.0), 1)') }} || ' of the time' as note
    from bounds
)

{{ headline(['lift', 'period'], 'share', 6, 100, '%', is_certain=true) }}
