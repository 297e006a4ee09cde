{{ config(materialized='view') }}
-- One row per operator, service_date, line, direction and service_hour: its punctuality as shares, with bounds.
-- The share itself goes by the likeliest moment of every visit seen passing;
-- low counts every undecided visit as not on time, high as on time. Coverage is how many of the passages due were seen;
-- under the ruleset's threshold the shares are null, with the reason.
with counted as (
    select
        *,
        n_likely_early + n_likely_on_time + n_likely_late as n_likely,
        greatest(n_due, n_scheduled) as n_passages
    from {{ ref('punctuality') }}
),

judged as (
    select
        counted.*,
        coalesce(cast(counted.n_likely as double) / nullif(counted.n_passages, 0), 0) as coverage,
        {{ why_no_share('counted', is_of_a_line=true) }} as null_reason
    from counted
    inner join {{ ref('rulesets') }} as rules
        on counted.ruleset_version = rules.ruleset_version
)

select
    *,
    -- visits not seen passing may be surely late: the point keeps inside its bounds
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
