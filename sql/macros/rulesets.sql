{# Whether the interval of a share lies above a value, below it or across it; null where either is unknown. In a
   relation with the estimated shares. #}
{% macro side_of_interval(value) -%}
    case
        when estimated_on_time_share_low > {{ value }} then 'above'
        when estimated_on_time_share_high < {{ value }} then 'below'
        when estimated_on_time_share_low <= {{ value }} and estimated_on_time_share_high >= {{ value }} then 'across'
    end
{%- endmacro %}

{# Every ruleset side by side, summed over a period of service dates: the share on time of what it judges, with its 95 %
   interval and what the ruleset demands, and the excess wait where it judges frequent service by that. A row for each
   ruleset and each line that had passages due, also where the ruleset cannot judge them, with the reason.

   name, first: the column that names the period and the expression of its first service date, which may go by the
                columns of `authorities`.
   keys:        columns of the grain besides operator, period and ruleset; none for the whole network.
   among:       the condition of the dates that are summed.
   grouped_by:  an expression of line_code, direction and service_date that the key `grouped_by` is made of. #}
{% macro rulesets_over(name, first, keys, among="", grouped_by="") -%}
{%- set judged = ["n_due", "n_observed", "n_unobserved", "n_expected", "n_frequent"] + expected_sums() -%}
{%- set waits = ["n_stop_hours", "due_seconds_sum", "due_seconds_squared_sum", "expected_seconds_sum",
    "expected_seconds_squared_sum", "line_variance", "n_headways", "n_gaps"] -%}
{%- set classes = ["early", "on_time", "late"] -%}
with due as (
    select distinct
        operator,
        service_date,
        line_code,
        direction,
        ruleset_version
    from {{ ref('punctuality_by_ruleset') }}
    where ruleset = 'default'
),

facts as (
    select
        due.operator,
        due.service_date,
        authorities.ruleset,
        due.line_code,
        due.direction,
        {%- for sum in judged + waits %}
        0 as {{ sum }},
        {%- endfor %}
        due.ruleset_version
    from due
    cross join {{ ref('authority_rulesets') }} as authorities
    {%- for source, sums in {"punctuality_by_ruleset": judged, "waits_by_ruleset": waits}.items() %}
    union all
    select
        operator,
        service_date,
        ruleset,
        line_code,
        direction,
        {%- for sum in judged + waits %}
        {{ sum if sum in sums else 0 }} as {{ sum }},
        {%- endfor %}
        ruleset_version
    from {{ ref(source) }}
    {%- endfor %}
),

sums as (
    select
        facts.operator,
        {{ first }} as {{ name }},
        facts.ruleset,
        {%- for key in keys %}
        facts.{{ key }},
        {%- endfor %}
        count(distinct facts.service_date) as n_dates,
        {%- for sum in judged + waits %}
        {%- if sum.startswith("n_") or sum.endswith("_sum") %}
        cast(sum(facts.{{ sum }}) as bigint) as {{ sum }},
        {%- elif sum == "line_variance" %}
        {{ exact_sum("facts." ~ sum) }} as {{ sum }},
        {%- else %}
        {{ exact_sum("facts." ~ sum, 6) }} as {{ sum }},
        {%- endif %}
        {%- endfor %}
        min(facts.ruleset_version) as first_ruleset_version,
        max(facts.ruleset_version) as ruleset_version,
        min(dates.null_reason) as unrecognised
    from (
        select *{% if grouped_by %}, {{ grouped_by }} as grouped_by{% endif %} from facts
        {{ among }}
    ) as facts
    inner join {{ ref('authority_rulesets') }} as authorities using (ruleset)
    left join {{ ref('unrecognised_dates') }} as dates
        on facts.operator = dates.operator and facts.service_date = dates.service_date
    group by
        facts.operator, {{ first }}, facts.ruleset
        {%- for key in keys %}, facts.{{ key }}{% endfor %}
),

intervals as (
    select
        sums.*,
        authorities.name,
        authorities.judged,
        authorities.stop_scope,
        authorities.period,
        authorities.late_seconds,
        authorities.is_in_force,
        authorities.frequent_judged_by,
        authorities.target,
        authorities.minimum,
        authorities.is_confirmed,
        rules.widest_interval,
        rules.widest_wait_interval_seconds,
        {%- for class in classes %}
        {{ half_interval(class, "sums", "sums.n_dates") }} as half_{{ class }}_interval,
        {%- endfor %}
        {{ half_wait_interval("sums.line_variance * " ~ design_effect("sums.n_dates")) }} as half_interval
    from sums
    inner join {{ ref('authority_rulesets') }} as authorities using (ruleset)
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
),

reasons as (
    select
        *,
        case
            when unrecognised is not null then unrecognised
            when first_ruleset_version != ruleset_version then 'several rulesets'
            when not is_in_force and late_seconds is null then 'thresholds unknown'
            when n_due = 0 and n_frequent > 0 then 'frequent service'
            when n_due = 0 and stop_scope = 'timing_points' then 'no timing points named'
            when n_due = 0 and stop_scope = 'rated_stops' then 'no rated stops named'
            when n_due = 0 then 'nothing due'
            when n_expected = n_due then 'nothing observed'
            when 2 * half_on_time_interval > widest_interval then 'interval too wide'
        end as null_reason,
        case
            when unrecognised is not null then unrecognised
            when first_ruleset_version != ruleset_version then 'several rulesets'
            when frequent_judged_by is null then 'not judged by waits'
            when n_frequent = 0 and n_due = 0 and stop_scope = 'timing_points' then 'no timing points named'
            when n_frequent = 0 and n_due = 0 and stop_scope = 'rated_stops' then 'no rated stops named'
            when n_frequent = 0 then 'not frequent'
            when n_stop_hours = 0 then 'coverage under threshold'
            when 2 * half_interval > widest_wait_interval_seconds then 'interval too wide'
        end as estimate_null_reason
    from intervals
),

shares as (
    select
        *,
        cast(n_observed as double) / nullif(n_due, 0) as coverage,
        {%- for class in classes %}
        {{ share_with_interval(
            "cast(expected_" ~ class ~ " as double) / n_due", "half_" ~ class ~ "_interval", "null_reason",
            "estimated_" ~ class ~ "_share"
        ) }},
        {%- endfor %}
        {{ estimated_waits() }}
    from reasons
)

select
    {{ (["operator", name, "ruleset"] + keys) | join(", ") }},
    name,
    judged,
    stop_scope,
    period,
    n_dates,
    {%- for sum in judged %}
    {{ sum }},
    {%- endfor %}
    coverage,
    null_reason,
    {%- for class in classes %}
    {%- for end in ["", "_low", "_high"] %}
    estimated_{{ class }}_share{{ end }},
    {%- endfor %}
    {%- endfor %}
    target,
    {{ side_of_interval("target") }} as against_target,
    minimum,
    {{ side_of_interval("minimum") }} as against_minimum,
    {%- for sum in waits %}
    {{ sum }},
    {%- endfor %}
    estimate_null_reason as wait_null_reason,
    estimated_awt_seconds,
    due_swt_seconds,
    estimated_ewt_seconds,
    estimated_ewt_seconds_low,
    estimated_ewt_seconds_high,
    is_confirmed,
    ruleset_version
from shares
{%- endmacro %}
