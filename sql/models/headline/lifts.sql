{{ config(materialized='view') }}
-- One row per operator, lift (or other plant) and month, of its dates that are over: the share of the time in which it
-- was usable, by the default definition. Low and high are bounds, the figure is the middle between them: time that
-- nobody watched is between them, and so is the time by which the service status may be late; where too little was
-- watched there is no figure. A lift that never failed is known by the plant file alone.
with figures as (
    select
        months.operator,
        months.lift,
        months.month_period as period,
        case
            when months.covered_seconds >= 0.5 * months.total_seconds
                then (months.availability_low + months.availability_high) / 2
        end as figure,
        months.availability_low as low,
        months.availability_high as high,
        cast(months.covered_seconds as double) / months.total_seconds as coverage,
        case
            when months.covered_seconds < 0.5 * months.total_seconds then 'coverage under threshold'
        end as null_reason,
        'Lift ' || months.lift || ' was usable ' as words_before,
        ' of the time' as words_after,
        'what share of the time lift ' || months.lift || ' was usable' as question,
        {{ when_words('months.month_period') }} as when_words,
        'failures that began then: ' || {{ count_text('months.n_failures') }} || '; the service status was watched '
        || {{ percent_text('cast(months.covered_seconds as double) / months.total_seconds') }}
        || ' of the time and may be up to ' || {{ count_text(quotient('parameters.told_late_seconds', 60)) }}
        || ' min late; ' || definitions.meaning as note
    from {{ ref('lift_availability_monthly') }} as months
    inner join {{ ref('lift_definitions') }} as definitions using (definition)
    cross join {{ ref('inference_parameters') }} as parameters
    where definitions.is_default
)

{{ headline(['lift', 'period'], 'share', 6, 100, '%', is_certain=true) }}
