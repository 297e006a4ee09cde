{# The wait of passengers who arrive at random: half of the headways' sum of squares over their sum; null without. #}
{% macro mean_wait(squares, seconds) -%}
    cast({{ squares }} as double) / nullif(2 * {{ seconds }}, 0)
{%- endmacro %}

{# Half of the 95 % interval of the estimated wait, in a relation with expected_seconds_sum and `rules`. As of delays, an
   error that all have in common is assumed.

   variance: of the expected sum of squares, as an expression. #}
{% macro half_wait_interval(variance) -%}
    1.96 * sqrt(
        {{ variance }} / nullif(power(2 * expected_seconds_sum, 2), 0) + power(rules.unobserved_wait_bias_seconds, 2)
    )
{%- endmacro %}

{# The estimated waits of all buses due, observed or not, with a 95 % interval of the excess.
   In a relation with the expected and due sums, half_interval and estimate_null_reason. #}
{% macro estimated_waits() -%}
    {%- set actual = mean_wait("expected_seconds_squared_sum", "expected_seconds_sum") -%}
    {%- set due = mean_wait("due_seconds_squared_sum", "due_seconds_sum") -%}
    {%- for name, value in {
        "estimated_awt_seconds": actual,
        "due_swt_seconds": due,
        "estimated_ewt_seconds": actual ~ " - " ~ due,
        "estimated_ewt_seconds_low": actual ~ " - " ~ due ~ " - half_interval",
        "estimated_ewt_seconds_high": actual ~ " - " ~ due ~ " + half_interval"
    }.items() %}
    case when estimate_null_reason is null then {{ value }} end as {{ name }}
    {{- "," if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{# Half of the 95 % interval of an estimated share of headways, in a relation joined with `rules`: with the error that
   shares of unobserved passages are assumed to have in common.

   variance: of the expected number, as an expression. #}
{% macro half_spacing_interval(variance) -%}
    1.96 * sqrt(
        greatest(cast({{ variance }} as double), 0) / nullif(power(cast(expected_headways as double), 2), 0)
        + power(rules.unobserved_bias, 2)
    )
{%- endmacro %}

{# The waits for frequent lines summed over a period of service dates, at their stops in their frequent hours, estimated
   for all buses due, with a 95 % interval. Stops and hours in which too few trips were observed do not take part; with
   too wide an interval the waits are null, with the reason.

   name, first: the column that names the period and the expression of its first service date.
   keys:        columns of the grain besides operator and period.
   variance:    of the sum of squares: line_variance over several stops, squared_sum_variance over the hours of one.
   among:       what follows the source: a join or a condition that leaves some of its dates.
   n_dates:     how many dates it sums over: the column, or 1. #}
{% macro waits_over(name, first, keys, variance, among="", n_dates="n_dates") -%}
{%- set grain = (["operator", name] + keys) | join(", ") -%}
{%- set sums = ["due_seconds_sum", "due_seconds_squared_sum", "expected_seconds_sum", "expected_seconds_squared_sum"] -%}
{%- set of_line = "line_" if variance == "line_variance" else "" -%}
{%- set spacing = {"bunched": "bunched_" ~ of_line ~ "variance", "gaps": "gaps_" ~ of_line ~ "variance"} -%}
with hours as (
    select
        *,
        {%- if name != first %}
        {{ first }} as {{ name }},
        {%- endif %}
        coalesce(estimate_null_reason, 'interval too wide') = 'interval too wide' as takes_part
    from {{ ref('headways') }}
    {{ among }}
),

sums as (
    select
        {{ grain }},
        count(case when takes_part then 1 end) as n_stop_hours,
        count(distinct case when takes_part then service_date end) as n_dates,
        cast(sum(n_due_of_observed_trips) as double) / nullif(sum(n_due), 0) as coverage,
        cast(sum(case when takes_part then n_due else 0 end) as bigint) as n_due,
        cast(sum(case when takes_part then n_due_of_observed_trips else 0 end) as bigint) as n_due_of_observed_trips,
        {%- for sum in sums %}
        cast(sum(case when takes_part then {{ sum }} end) as bigint) as {{ sum }},
        {%- endfor %}
        greatest({{ exact_sum("case when takes_part then " ~ variance ~ " end") }}, 0) as {{ variance }},
        {%- for sum in ["expected_headways", "expected_bunched", "expected_gaps"] + spacing.values() | list %}
        {{ exact_sum("case when takes_part then " ~ sum ~ " end", 6) }} as {{ sum }},
        {%- endfor %}
        min(estimate_null_reason) as hour_null_reason,
        max(ruleset_version) as ruleset_version
    from hours
    where is_frequent
    group by {{ grain }}
),

judged as (
    select
        sums.*,
        {{ half_wait_interval(variance ~ ' * ' ~ design_effect(n_dates)) }} as half_interval,
        case
            when n_stop_hours = 0 then hour_null_reason
            when 2 * half_interval > rules.widest_wait_interval_seconds then 'interval too wide'
        end as estimate_null_reason,
        {%- for name, spacing_variance in spacing.items() %}
        {{ half_spacing_interval(spacing_variance ~ ' * ' ~ design_effect(n_dates)) }} as half_{{ name }}_interval,
        -- where the buses are too uncertain for a wait, draws miss what makes its gaps
        coalesce(
            estimate_null_reason,
            case when 2 * half_{{ name }}_interval > rules.widest_interval then 'interval too wide' end
        ) as {{ name }}_null_reason
        {{- "," if not loop.last }}
        {%- endfor %}
    from sums
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
)

select
    * {{ exclude("n_dates, half_interval, half_bunched_interval, half_gaps_interval, hour_null_reason") }},
    {{ estimated_waits() }},
    {%- for name in spacing %}
    {{ share_with_interval(
        "cast(expected_" ~ name ~ " as double) / nullif(cast(expected_headways as double), 0)",
        "half_" ~ name ~ "_interval", name ~ "_null_reason", "estimated_" ~ name ~ "_share"
    ) }}
    {{- "," if not loop.last }}
    {%- endfor %}
from judged
{%- endmacro %}
