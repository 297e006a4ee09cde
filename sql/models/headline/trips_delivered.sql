{{ config(materialized='view') }}
-- One row per operator, line, direction and month, of its dates that are over: between which bounds the share of
-- the departures that ran lies: at least those seen to run, at most all but those known not to have run. That a bus did
-- not run is seldom proven, so that a share of the departures of known outcome leans: there is a figure only where
-- every outcome is known.
with counts as (
    select
        operator,
        month_period as period,
        line_code,
        direction,
        sum(n_scheduled_trips) as n_departures,
        sum(n_run) as n_run,
        sum(n_not_run) as n_not_run,
        sum(n_scheduled_trips - n_run - n_not_run) as n_unknown,
        max(ruleset_version) as ruleset_version
    from {{ ref('service_delivered') }}
    {{ over_dates() }}
    group by operator, month_period, line_code, direction
),

figures as (
    select
        counts.operator,
        {{ shown_line('counts') }} as line,
        {{ shown_terminus('counts') }} as towards,
        counts.period,
        case when counts.n_unknown = 0 then cast(counts.n_run as double) / counts.n_departures end as figure,
        cast(counts.n_run as double) / counts.n_departures as low,
        cast(counts.n_departures - counts.n_not_run as double) / counts.n_departures as high,
        cast(counts.n_run + counts.n_not_run as double) / counts.n_departures as coverage,
        case
            when counts.n_unknown > rules.widest_interval * counts.n_departures then 'interval too wide'
            when counts.n_unknown > 0 then 'outcomes unknown'
        end as null_reason,
        '' as words_before,
        ' of the departures of ' || {{ direction_words('counts') }} || ' ran' as words_after,
        'what share of the departures of ' || {{ direction_words('counts') }} || ' ran' as question,
        {{ when_words('counts.period') }} as when_words,
        'departures: ' || {{ count_text('counts.n_departures') }}
        || '; seen to run: ' || {{ count_text('counts.n_run') }}
        || '; known not to have run: ' || {{ count_text('counts.n_not_run') }} || '; not known: '
        || {{ count_text('counts.n_unknown') }} as note
    from counts
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    left join {{ named_directions() }} as names using (operator, line_code, direction)
)

{{ headline(
    ['line', 'towards', 'period'], 'share', 6, 100, '%', is_certain=true, bounds_reason='outcomes unknown'
) }}
