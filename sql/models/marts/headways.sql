-- One row per operator, service_date, line, direction, stop and service_hour: headways observed, and scheduled between
-- the same buses, as count, sum and sum of squares.
-- The waits follow from the sums (sum of squares / twice the sum). The sums add up over any period, the waits do not.
-- Headways between buses observed one after the other lean to short ones: a bus that did not come is not observed. The
-- estimates are of all buses due, with an interval; those of bunched buses and gaps are sums, for more than one hour.
with buses as (
    select
        operator,
        service_date,
        line_code,
        direction,
        stop_code,
        service_hour,
        scheduled_at
    from {{ built('stop_visits') }}
    where line_code is not null and position is not null
    union all
    select
        operator,
        service_date,
        line_code,
        direction,
        stop_code,
        service_hour,
        scheduled_at
    from {{ built('unlisted_departures') }}
),

bus_counts as (
    select
        operator,
        service_date,
        line_code,
        direction,
        stop_code,
        service_hour,
        count(scheduled_at) as n_scheduled_buses,
        count(*) - count(scheduled_at) as n_unscheduled_buses
    from buses
    group by operator, service_date, line_code, direction, stop_code, service_hour
),

observed as (
    select
        *,
        sum(n_scheduled) over stop_hour as hour_n_scheduled,
        nullif(sum(scheduled_seconds) over stop_hour, 0) as hour_scheduled_seconds
    from {{ built('observed_headways') }}
    window stop_hour as (partition by operator, service_date, line_code, direction, stop_code, service_hour)
),

headway_sums as (
    select
        observed.operator,
        observed.service_date,
        observed.line_code,
        observed.direction,
        observed.stop_code,
        observed.service_hour,
        count(*) as n_actual,
        sum(observed.headway_seconds) as actual_seconds_sum,
        sum(observed.headway_seconds * observed.headway_seconds) as actual_seconds_squared_sum,
        sum(observed.n_scheduled) as n_scheduled,
        sum(observed.scheduled_seconds) as scheduled_seconds_sum,
        sum(observed.scheduled_squares) as scheduled_seconds_squared_sum,
        count(
            case
                when
                    observed.headway_seconds
                    <= rules.bunched_ratio * observed.hour_scheduled_seconds / observed.hour_n_scheduled
                    then 1
            end
        ) as n_bunched,
        count(
            case
                when
                    observed.headway_seconds
                    >= rules.gap_ratio * observed.hour_scheduled_seconds / observed.hour_n_scheduled
                    then 1
            end
        ) as n_gaps
    from observed
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    group by
        observed.operator, observed.service_date, observed.line_code, observed.direction, observed.stop_code,
        observed.service_hour
),

hours as (
    select
        operator,
        service_date,
        line_code,
        direction,
        stop_code,
        service_hour,
        coalesce(bus_counts.n_scheduled_buses, 0) as n_scheduled_buses,
        coalesce(bus_counts.n_unscheduled_buses, 0) as n_unscheduled_buses,
        coalesce(headway_sums.n_actual, 0) as n_actual,
        cast(coalesce(headway_sums.actual_seconds_sum, 0) as bigint) as actual_seconds_sum,
        cast(coalesce(headway_sums.actual_seconds_squared_sum, 0) as bigint) as actual_seconds_squared_sum,
        cast(coalesce(headway_sums.n_scheduled, 0) as bigint) as n_scheduled,
        cast(coalesce(headway_sums.scheduled_seconds_sum, 0) as bigint) as scheduled_seconds_sum,
        cast(coalesce(headway_sums.scheduled_seconds_squared_sum, 0) as bigint) as scheduled_seconds_squared_sum,
        coalesce(headway_sums.n_bunched, 0) as n_bunched,
        coalesce(headway_sums.n_gaps, 0) as n_gaps
    from bus_counts
    full outer join headway_sums
        using (operator, service_date, line_code, direction, stop_code, service_hour)
),

judged as (
    select
        hours.*,
        hours.n_scheduled_buses >= rules.frequent_per_hour as is_frequent,
        case
            when hours.n_scheduled_buses < rules.frequent_per_hour then 'not frequent'
            when hours.scheduled_seconds_sum = 0 then 'no watched schedule'
            when hours.n_unscheduled_buses > rules.unscheduled_share * hours.n_scheduled_buses
                then 'schedule incomplete'
            -- one long headway covers neither the hour nor the buses scheduled in it
            when
                hours.actual_seconds_sum < rules.coverage_threshold * 3600
                or hours.n_scheduled < rules.coverage_threshold * hours.n_scheduled_buses
                then 'coverage under threshold'
        end as null_reason,
        rules.ruleset_version
    from hours
    {{ join_rules('hours.service_date') }}
),

estimates as (
    select
        judged.*,
        coalesce(
            {{ add_seconds('days.zero_at', '3600 * (judged.service_hour + 1)') }}
            <= last_answers.last_received_at,
            false
        ) as is_complete,
        coalesce(estimated.n_due, 0) as n_due,
        coalesce(estimated.n_due_of_observed_trips, 0) as n_due_of_observed_trips,
        estimated.due_seconds_sum,
        estimated.due_seconds_squared_sum,
        estimated.expected_seconds_sum,
        estimated.expected_seconds_squared_sum,
        estimated.squared_sum_variance,
        {%- for column in [
            "expected_headways", "expected_bunched", "bunched_variance", "bunched_line_variance", "expected_gaps",
            "gaps_variance", "gaps_line_variance"
        ] %}
            coalesce(estimated.{{ column }}, 0) as {{ column }},
        {%- endfor %}
        estimated.line_variance
    from judged
    left join {{ built('service_days') }} as days using (operator, service_date)
    left join {{ last_answers() }} as last_answers using (operator)
    left join {{ built('estimated_headways') }} as estimated
        using (operator, service_date, line_code, direction, stop_code, service_hour)
),

judged_estimates as (
    select
        estimates.*,
        {{ half_wait_interval('squared_sum_variance') }} as half_interval,
        case
            when not estimates.is_frequent then 'not frequent'
            when not estimates.is_complete then 'hour in progress'
            when coalesce(estimates.expected_seconds_sum * estimates.due_seconds_sum, 0) = 0 then 'nothing due'
            when estimates.n_due_of_observed_trips < rules.coverage_threshold * estimates.n_due
                then 'coverage under threshold'
            when 2 * {{ half_wait_interval('squared_sum_variance') }} > rules.widest_wait_interval_seconds
                then 'interval too wide'
        end as estimate_null_reason
    from estimates
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
),

waits as (
    select
        * exclude (half_interval),
        case when null_reason is null then {{ mean_wait('actual_seconds_squared_sum', 'actual_seconds_sum') }} end
            as awt_seconds,
        case
            when null_reason is null then {{ mean_wait('scheduled_seconds_squared_sum', 'scheduled_seconds_sum') }}
        end as swt_seconds,
        {{ estimated_waits() }}
    from judged_estimates
)

select
    *,
    awt_seconds - swt_seconds as ewt_seconds
from waits
