-- One row per operator, service_date, line, direction, stop and service_hour: headways observed, and scheduled between
-- the same buses, as count, sum and sum of squares.
-- The waits follow from the sums (sum of squares / twice the sum). The sums add up over any period, the waits do not.
-- Headways between buses observed one after the other lean to short ones: a bus that did not come is not observed. The
-- estimates are of all buses due, with an interval; those of bunched buses and gaps are sums, for more than one hour.
{%- set stop_hour = "operator, service_date, line_code, direction, stop_code, service_hour" %}
{%- set awt = mean_wait("actual_seconds_squared_sum", "actual_seconds_sum") %}
{%- set swt = mean_wait("scheduled_seconds_squared_sum", "scheduled_seconds_sum") %}
with buses as (
    select
        {{ stop_hour }},
        scheduled_at
    from {{ built('stop_visits') }}
    where line_code is not null and position is not null
    union all
    select
        {{ stop_hour }},
        scheduled_at
    from {{ built('unlisted_departures') }}
),

bus_counts as (
    select
        {{ stop_hour }},
        count(scheduled_at) as n_scheduled_buses,
        count(*) - count(scheduled_at) as n_unscheduled_buses
    from buses
    group by {{ stop_hour }}
),

observed as (
    select
        *,
        sum(n_scheduled) over stop_hour as hour_n_scheduled,
        nullif(sum(scheduled_seconds) over stop_hour, 0) as hour_scheduled_seconds
    from {{ built('observed_headways') }}
    window stop_hour as (partition by {{ stop_hour }})
),

headway_sums as (
    select
        {{ stop_hour }},
        sum(headway_seconds) as actual_seconds_sum,
        sum(headway_seconds * headway_seconds) as actual_seconds_squared_sum,
        sum(n_scheduled) as n_scheduled,
        sum(scheduled_seconds) as scheduled_seconds_sum,
        sum(scheduled_squares) as scheduled_seconds_squared_sum,
        {%- for name, beyond in {"bunched": "<= rules.bunched_ratio", "gaps": ">= rules.gap_ratio"}.items() %}
            count(
                case when headway_seconds {{ beyond }} * hour_scheduled_seconds / hour_n_scheduled then 1 end
            ) as n_{{ name }},
        {%- endfor %}
        count(*) as n_actual
    from observed
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    group by {{ stop_hour }}
),

hours as (
    select
        {{ stop_hour }},
        {%- for sum in ["n_scheduled_buses", "n_unscheduled_buses", "n_actual", "actual_seconds_sum",
            "actual_seconds_squared_sum", "n_scheduled", "scheduled_seconds_sum", "scheduled_seconds_squared_sum",
            "n_bunched"] %}
            cast(coalesce({{ sum }}, 0) as bigint) as {{ sum }},
        {%- endfor %}
        coalesce(n_gaps, 0) as n_gaps
    from bus_counts
    full outer join headway_sums using ({{ stop_hour }})
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
        rules.ruleset_version,
        coalesce(
            add_seconds(days.zero_at, 3600 * (hours.service_hour + 1)) <= last_answers.last_received_at, false
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
    from hours
    {{ join_rules('hours.service_date') }}
    left join {{ built('service_days') }} as days using (operator, service_date)
    left join {{ last_answers() }} as last_answers using (operator)
    left join {{ built('estimated_headways') }} as estimated using ({{ stop_hour }})
),

estimates as (
    select
        judged.*,
        {{ half_wait_interval('squared_sum_variance') }} as half_interval,
        case
            when dates.null_reason is not null then dates.null_reason
            when not judged.is_frequent then 'not frequent'
            when not judged.is_complete then 'hour in progress'
            when coalesce(judged.expected_seconds_sum * judged.due_seconds_sum, 0) = 0 then 'nothing due'
            when judged.n_due_of_observed_trips < rules.coverage_threshold * judged.n_due
                then 'coverage under threshold'
            when 2 * {{ half_wait_interval('squared_sum_variance') }} > rules.widest_wait_interval_seconds
                then 'interval too wide'
        end as estimate_null_reason
    from judged
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    left join {{ built('unrecognised_dates') }} as dates
        on judged.operator = dates.operator and judged.service_date = dates.service_date
)

select
    * {{ exclude("half_interval") }},
    case when null_reason is null then {{ awt }} end as awt_seconds,
    case when null_reason is null then {{ swt }} end as swt_seconds,
    {{ estimated_waits() }},
    case when null_reason is null then {{ awt }} - {{ swt }} end as ewt_seconds
from estimates
