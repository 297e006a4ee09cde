{{ config(materialized='view') }}
-- One row per operator, service_date, line and direction that is frequent somewhere: the waits at its stops in its
-- frequent hours, estimated for all buses due, with a 95 % interval. Stops and hours in which too few trips were
-- observed do not take part; with too wide an interval the waits are null, with the reason.
with sums as (
    select
        operator,
        service_date,
        line_code,
        direction,
        count(*) as n_stop_hours,
        sum(n_due) as n_due,
        sum(n_due_of_observed_trips) as n_due_of_observed_trips,
        sum(due_seconds_sum) as due_seconds_sum,
        sum(due_seconds_squared_sum) as due_seconds_squared_sum,
        sum(expected_seconds_sum) as expected_seconds_sum,
        sum(expected_seconds_squared_sum) as expected_seconds_squared_sum,
        greatest(sum(line_variance), 0) as line_variance,
        max(ruleset_version) as ruleset_version
    from {{ ref('headways') }}
    where coalesce(estimate_null_reason, 'interval too wide') = 'interval too wide'
    group by operator, service_date, line_code, direction
),

judged as (
    select
        sums.*,
        {{ half_wait_interval('line_variance') }} as half_interval,
        case
            when 2 * {{ half_wait_interval('line_variance') }} > rules.widest_wait_interval_seconds
                then 'interval too wide'
        end as estimate_null_reason
    from sums
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
)

select
    * exclude (half_interval),
    {{ estimated_waits() }}
from judged
