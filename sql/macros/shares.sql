{# Punctuality summed over a period of service dates, as shares with bounds and coverage, with and without the
   passages of trips that did not run. A share is null, with the reason, where it could not be believed.

   name, first: the column that names the period and the expression of its first service date.
   keys:        columns of the grain beside operator and period; none for the whole network. #}
{% macro punctuality_over(name, first, keys) -%}
{%- set visits = [
    "n_visits", "n_scheduled", "n_early", "n_on_time", "n_late", "n_indeterminate", "n_evidenced", "n_bounded",
    "n_estimated", "n_untracked", "n_points", "n_on_time_points", "n_delays", "delay_seconds_sum"
] -%}
{%- set watched = ["covered_seconds", "asked_seconds"] -%}
{%- set delivered = ["n_scheduled_trips", "n_not_run", "n_visits_not_run", "n_visits_unseen"] -%}
{%- set sources = {"punctuality": visits, "line_coverage": watched, "service_delivered": delivered} -%}
with facts as (
    {%- for source, counts in sources.items() %}
    select
        operator,
        {{ first }} as {{ name }},
        {%- for key in keys %}
        {{ key }},
        {%- endfor %}
        {%- for count in visits + watched + delivered %}
        {{ count if count in counts else 0 ~ " as " ~ count }},
        {%- endfor %}
        {{ "service_date" if source == "punctuality" else "cast(null as date)" }} as seen_date,
        ruleset_version
    from {{ ref(source) }}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
),

sums as (
    select
        operator,
        {{ name }},
        {%- for key in keys %}
        {{ key }},
        {%- endfor %}
        count(distinct seen_date) as n_dates,
        {%- for count in visits + watched + delivered %}
        cast(sum({{ count }}) as bigint) as {{ count }},
        {%- endfor %}
        min(ruleset_version) as first_ruleset_version,
        max(ruleset_version) as ruleset_version
    from facts
    group by operator, {{ name }}{% for key in keys %}, {{ key }}{% endfor %}
    having sum(n_visits) + sum(n_scheduled_trips) > 0
),

judged as (
    select
        sums.*,
        coalesce(cast(sums.covered_seconds as double) / nullif(sums.asked_seconds, 0), 0) as coverage,
        case
            {%- if keys %}
            when sums.line_code is null then 'line unknown'
            {%- endif %}
            when sums.n_scheduled = 0 then 'nothing scheduled'
            when sums.first_ruleset_version <> sums.ruleset_version then 'several rulesets'
            when
                coalesce(cast(sums.covered_seconds as double) / nullif(sums.asked_seconds, 0), 0)
                < rules.coverage_threshold
                then 'coverage under threshold'
        end as null_reason
    from sums
    inner join {{ ref('rulesets') }} as rules on sums.ruleset_version = rules.ruleset_version
)

select
    operator,
    {{ name }},
    {%- for key in keys %}
    {{ key }},
    {%- endfor %}
    n_dates,
    {%- for count in visits + watched + delivered %}
    {{ count }},
    {%- endfor %}
    ruleset_version,
    coverage,
    null_reason,
    case
        when null_reason is null then cast(n_on_time_points as double) / nullif(n_points, 0)
    end as on_time_share,
    case
        when null_reason is null then cast(n_on_time as double) / n_scheduled
    end as on_time_share_low,
    case
        when null_reason is null then cast(n_on_time + n_indeterminate as double) / n_scheduled
    end as on_time_share_high,
    case
        when null_reason is null
            then cast(n_on_time_points as double) / nullif(n_points + n_visits_not_run, 0)
    end as on_time_share_of_promised,
    case
        when null_reason is null
            then cast(n_on_time as double) / (n_scheduled + n_visits_not_run + n_visits_unseen)
    end as on_time_share_of_promised_low,
    case
        when null_reason is null
            then
                cast(n_on_time + n_indeterminate + n_visits_unseen as double)
                / (n_scheduled + n_visits_not_run + n_visits_unseen)
    end as on_time_share_of_promised_high,
    case
        when null_reason is null then cast(delay_seconds_sum as double) / nullif(n_delays, 0)
    end as mean_delay_seconds
from judged
{%- endmacro %}
