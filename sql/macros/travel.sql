{# Half of the 95 % interval of an estimated mean travel time, in seconds. In a relation with n_due_of_observed_trips,
   error_seconds_sum and error_squares_sum, joined with `rules`. What is wrong with the estimate of one trip is partly
   wrong with those of all trips between the two stops: the running time by which they follow from other stops. #}
{% macro half_travel_interval() -%}
    1.96 * sqrt(
        (1 - rules.trip_correlation) * cast(error_squares_sum as double)
        + rules.trip_correlation * power(cast(error_seconds_sum as double), 2)
    ) / nullif(n_due_of_observed_trips, 0)
{%- endmacro %}

{# The mean travel times estimated for the trips due that were observed anywhere, with a 95 % interval, and scheduled for
   the same trips; null, with the reason, where too little is known. As common table expressions that end a query.

   relation: has ruleset_version, n_due, n_due_of_observed_trips, expected_seconds_sum, due_seconds_sum and the sums of
             half_travel_interval. #}
{% macro with_mean_travel_times(relation) -%}
judged as (
    select
        {{ relation }}.*,
        cast(expected_seconds_sum as double) / nullif(n_due_of_observed_trips, 0) as mean_seconds,
        {{ half_travel_interval() }} as half_interval,
        case
            when n_due = 0 then 'nothing due'
            when n_due_of_observed_trips = 0 then 'nothing observed'
            when n_due_of_observed_trips < rules.coverage_threshold * n_due then 'coverage under threshold'
            -- wider than the travel time itself
            when 2 * {{ half_travel_interval() }} * n_due_of_observed_trips > expected_seconds_sum
                then 'interval too wide'
        end as estimate_null_reason
    from {{ relation }}
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
)

select
    * {{ exclude("mean_seconds, half_interval") }},
    {%- for name, value in {
        "estimated_seconds": "mean_seconds",
        "estimated_seconds_low": "greatest(mean_seconds - half_interval, 0)",
        "estimated_seconds_high": "mean_seconds + half_interval",
        "due_seconds": "cast(due_seconds_sum as double) / n_due_of_observed_trips"
    }.items() %}
    case when estimate_null_reason is null then {{ value }} end as {{ name }}
    {{- "," if not loop.last }}
    {%- endfor %}
from judged
{%- endmacro %}

{# Travel times between two stops of a line and direction over a period of service dates. The interval takes the errors
   of two dates for as alike as those of two trips.

   name, first: the column that names the period and the expression of its first service date.
   among:       what follows the source: a join or a condition that leaves some of its dates. #}
{% macro travel_times_over(name, first, among="") -%}
{%- set keys = ["operator", name, "line_code", "direction", "from_stop_code", "to_stop_code", "is_from_origin",
    "is_adjacent"] | join(", ") -%}
{%- set sums = ["n_trips", "n_due", "n_due_of_observed_trips", "expected_seconds_sum", "due_seconds_sum",
    "error_seconds_sum", "error_squares_sum"] -%}
with facts as (
    select
        *,
        {{ first }} as {{ name }}
    from {{ ref('travel_times') }}
    {{ among }}
),

sums as (
    select
        {{ keys }},
        {%- for sum in sums %}
        cast(sum({{ sum }}) as bigint) as {{ sum }},
        {%- endfor %}
        max(ruleset_version) as ruleset_version
    from facts
    group by {{ keys }}
),

{{ with_mean_travel_times("sums") }}
{%- endmacro %}
