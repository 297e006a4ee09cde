{# The counts and sums of prediction accuracy that a trip has by itself. #}
{% macro prediction_counts() -%}
    {{- return([
        "n", "n_not_judged", "n_within", "n_surely_within", "n_possibly_within", "n_too_early", "n_too_late",
        "error_seconds_sum", "error_low_seconds_sum", "error_high_seconds_sum", "absolute_error_seconds_sum",
        "absolute_error_low_seconds_sum", "absolute_error_high_seconds_sum", "squared_error_sum", "n_revisions",
        "absolute_revision_seconds_sum", "n_upward_jumps"
    ]) -}}
{%- endmacro %}

{# Prediction accuracy by horizon bucket summed over a period of service dates: of the predictions judged, the share
   within the band, with a 95 % interval; null, with the reason, where too little is known.
   The predictions of one trip err alike, so trips and not predictions are what the interval counts (the cluster sandwich
   estimator of a share). As of unobserved passages, an error that all have in common is assumed: which passages are
   evidenced is no random part.

   name, first: the column that names the period and the expression of its first service date.
   keys:        columns of the grain besides operator, period and bucket.
   among:       what follows the source: a join or a condition that leaves some of its dates.
   grouped_by:  an expression of line_code, service_date and service_hour that the key `grouped_by` is made of. #}
{% macro predictions_over(name, first, keys, among="", grouped_by="") -%}
{%- set grain = (["operator", name] + keys + ["horizon_from_seconds", "horizon_to_seconds"]) | join(", ") -%}
{%- set squares = ["n_squared_sum", "n_within_squared_sum", "n_times_within_sum"] -%}
with facts as (
    select
        *
        {%- if name != first %},
        {{ first }} as {{ name }}
        {%- endif %}
        {%- if grouped_by %},
        {{ grouped_by }} as grouped_by
        {%- endif %}
    from {{ ref('prediction_accuracy_by_hour') }}
    {{ among }}
),

sums as (
    select
        {{ grain }},
        {%- for count in prediction_counts() + squares %}
        cast(sum({{ count }}) as bigint) as {{ count }},
        {%- endfor %}
        max(ruleset_version) as ruleset_version
    from facts
    group by {{ grain }}
),

effective as (
    -- how many trips of equally many predictions tell as much; under one where trips have most of their predictions in
    -- hours that are left out
    select
        *,
        cast(n_within as double) / nullif(n, 0) as share,
        cast(n as double) * n / nullif(n_squared_sum, 0) as n_effective_trips
    from sums
),

uncertain as (
    select
        effective.*,
        rules.seen_threshold,
        rules.fewest_trips,
        rules.widest_interval,
        1.96 * sqrt(
            greatest(n_within_squared_sum - 2 * share * n_times_within_sum + share * share * n_squared_sum, 0)
            / (cast(n as double) * n) * n_effective_trips / nullif(greatest(n_effective_trips - 1, 0), 0)
            + power(rules.unobserved_bias, 2)
        ) as half_interval
    from effective
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
),

judged as (
    select
        * {{ exclude("seen_threshold, fewest_trips, widest_interval") }},
        case
            when n = 0 or n < seen_threshold * (n + n_not_judged) then 'coverage under threshold'
            when n_effective_trips < fewest_trips then 'too few trips'
            when 2 * half_interval > widest_interval then 'interval too wide'
        end as null_reason
    from uncertain
)

select
    * {{ exclude("share, half_interval") }},
    {{ share_with_interval("share", "half_interval", "null_reason", "within_band_share") }}
from judged
{%- endmacro %}
