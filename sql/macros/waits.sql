{# The wait of passengers who arrive at random: half of the headways' sum of squares over their sum; null without. #}
{% macro mean_wait(squares, seconds) -%}
    cast({{ squares }} as double) / nullif(2 * {{ seconds }}, 0)
{%- endmacro %}

{# Half of the 95 % interval of the estimated wait, in a relation with expected_seconds_sum and `rules`. As of delays, an
   error that all have in common is assumed.

   variance: of the expected sum of squares, as an expression. #}
{% macro half_wait_interval(variance) -%}
    1.96 * sqrt(
        {{ variance }} / nullif(power(2 * expected_seconds_sum, 2), 0) + power(rules.unobserved_delay_bias_seconds, 2)
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
