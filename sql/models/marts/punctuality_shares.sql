{{ config(materialized='view') }}
-- One row per operator, service_date, line, direction and service_hour: its punctuality as shares, estimated for all
-- passages due, and of those seen, with bounds and coverage. The latter go by passed_at of the observed passages; the
-- lower bound counts an indeterminate visit as not on time, the upper bound as on time. With too little coverage, or
-- too wide an interval, the shares are null, with the reason.
with counted as (
    select
        punctuality.*,
        n_likely_early + n_likely_on_time + n_likely_late as n_likely,
        greatest(n_due, n_scheduled) as n_passages,
        dates.null_reason as unrecognised
    from {{ ref('punctuality') }} as punctuality
    left join {{ ref('unrecognised_dates') }} as dates using (operator, service_date)
),

judged as (
    select
        counted.*,
        coalesce(cast(counted.n_likely as double) / nullif(counted.n_passages, 0), 0) as coverage,
        {{ null_reason_of('counted', is_of_a_line=true) }} as null_reason,
        {{ estimate_null_reason_of('counted', is_of_a_line=true) }} as estimate_null_reason,
        {{ estimate_intervals('counted') }}
    from counted
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
)

select
    * {{ exclude(
        "unrecognised, half_early_interval, half_on_time_interval, half_late_interval, half_delay_interval"
    ) }},
    {{ estimated_shares() }},
    -- only the bounds count visits that are late although not observed passing: the estimate stays within them
    case
        when null_reason is null
            then
                least(
                    cast(n_likely_on_time as double) / n_likely,
                    cast(n_on_time + n_indeterminate as double) / n_scheduled
                )
    end as on_time_share,
    case when null_reason is null then cast(n_on_time as double) / n_scheduled end as on_time_share_low,
    case
        when null_reason is null then cast(n_on_time + n_indeterminate as double) / n_scheduled
    end as on_time_share_high,
    case
        when null_reason is null then cast(delay_seconds_sum as double) / nullif(n_delays, 0)
    end as mean_delay_seconds
from judged
