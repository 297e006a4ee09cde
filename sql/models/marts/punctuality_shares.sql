{{ config(materialized='view') }}
-- One row per operator, service_date, line, direction and service_hour: its punctuality as shares, with bounds.
-- low counts every undecided visit as not on time, high as on time. Coverage is the watched share of the time of
-- the stops that were asked; under the ruleset's threshold the shares are null, with the reason.
with judged as (
    select
        punctuality.*,
        coalesce(watched.n_stops_polled, 0) as n_stops_polled,
        coalesce(watched.covered_seconds, 0) as covered_seconds,
        coalesce(watched.asked_seconds, 0) as asked_seconds,
        coalesce(cast(watched.covered_seconds as double) / watched.asked_seconds, 0) as coverage,
        case
            when punctuality.line_code is null then 'line unknown'
            when punctuality.n_scheduled = 0 then 'nothing scheduled'
            when coalesce(cast(watched.covered_seconds as double) / watched.asked_seconds, 0) < rules.coverage_threshold
                then 'coverage under threshold'
        end as null_reason
    from {{ ref('punctuality') }} as punctuality
    inner join {{ ref('rulesets') }} as rules
        on punctuality.ruleset_version = rules.ruleset_version
    left join {{ ref('line_coverage') }} as watched
        on
            punctuality.operator = watched.operator
            and punctuality.service_date = watched.service_date
            and punctuality.line_code = watched.line_code
            and punctuality.direction = watched.direction
            and punctuality.service_hour = watched.service_hour
)

select
    *,
    case
        when null_reason is null then cast(n_on_time_points as double) / nullif(n_points, 0)
    end as on_time_share,
    case
        when null_reason is null then cast(n_on_time as double) / n_scheduled
    end as on_time_share_low,
    case
        when null_reason is null then cast(n_on_time + n_indeterminate as double) / n_scheduled
    end as on_time_share_high,
    case
        when null_reason is null then cast(delay_seconds_sum as double) / nullif(n_delays, 0)
    end as mean_delay_seconds
from judged
