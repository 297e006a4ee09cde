{{ config(materialized='view') }}
-- One row per operator, line, direction and month with frequent service, of its dates that are over: by how many
-- seconds the mean wait of passengers was longer than the timetable's, in frequent hours, with its 95 % interval.
with waits as (
    {{ waits_over('period', 'month_period', ['line_code', 'direction'], 'line_variance', among=over_dates()) }}
),

figures as (
    select
        waits.operator,
        {{ shown_line('waits') }} as line,
        {{ shown_terminus('waits') }} as towards,
        waits.period,
        waits.estimated_ewt_seconds as figure,
        waits.estimated_ewt_seconds_low as low,
        waits.estimated_ewt_seconds_high as high,
        waits.coverage,
        waits.estimate_null_reason as null_reason,
        'The mean excess wait for ' || {{ direction_words('waits') }} || ' was ' as words_before,
        '' as words_after,
        'how much longer than by the timetable passengers waited for ' || {{ direction_words('waits') }} as question,
        {{ when_words('waits.period') }} as when_words,
        'in hours with ' || rules.frequent_per_hour || ' or more scheduled buses; '
        || {{ percent_text('coalesce(waits.coverage, 0)') }}
        || ' of the buses due were observed somewhere, the others are estimated (ruleset '
        || rules.ruleset_version || ')' as note
    from waits
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    left join {{ named_directions() }} as names using (operator, line_code, direction)
)

{{ headline(['line', 'towards', 'period'], 'wait_seconds', 1, 1, 's', is_certain=false) }}
