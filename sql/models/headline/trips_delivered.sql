{{ config(materialized='view') }}
-- One row per operator, line, direction and month, of its dates that are over: the share of the departures of known
-- outcome that ran. Low and high are hard bounds: the departures of unknown outcome all did not run, or all ran.
with counts as (
    select
        operator,
        month_period as period,
        line_code,
        direction,
        sum(n_scheduled_trips) as n_departures,
        sum(n_run) as n_run,
        sum(n_not_run) as n_not_run,
        max(ruleset_version) as ruleset_version
    from {{ ref('service_delivered') }}
    {{ over_dates() }}
    group by operator, month_period, line_code, direction
),

judged as (
    select
        counts.*,
        cast(counts.n_run + counts.n_not_run as double) / counts.n_departures as coverage,
        case
            when
                counts.n_departures - counts.n_run - counts.n_not_run > rules.widest_interval * counts.n_departures
                then 'interval too wide'
        end as null_reason
    from counts
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
),

figures as (
    select
        judged.operator,
        {{ shown_line('judged') }} as line,
        {{ shown_terminus('judged') }} as towards,
        judged.period,
        case
            when judged.null_reason is null then cast(judged.n_run as double) / (judged.n_run + judged.n_not_run)
        end as figure,
        cast(judged.n_run as double) / judged.n_departures as low,
        cast(judged.n_departures - judged.n_not_run as double) / judged.n_departures as high,
        judged.coverage,
        judged.null_reason,
        '' as words_before,
        ' of the departures of ' || {{ direction_words('judged') }} || ' ran' as words_after,
        'what share of the departures of ' || {{ direction_words('judged') }} || ' ran' as question,
        {{ when_words('judged.period') }} as when_words,
        'of ' || {{ count_text('judged.n_departures') }} || ' departures ' || {{ count_text('judged.n_run') }}
        || ' were seen to run, ' || {{ count_text('judged.n_not_run') }}
        || ' did not run, and of the others it is not known: the share is of the known ones, the bounds are of all'
            as note
    from judged
    left join {{ named_directions() }} as names using (operator, line_code, direction)
)

{{ headline(['line', 'towards', 'period'], 'share', 6, 100, '%', is_certain=true) }}
