{# Why the share of some passages cannot be believed; null where it can.

   relation: with n_due, n_passages, n_likely and, if a line has to be known, line_code; `rules` are joined. #}
{% macro why_no_share(relation, is_of_a_line) -%}
    case
        {%- if is_of_a_line %}
        when {{ relation }}.line_code is null then 'line unknown'
        {%- endif %}
        when {{ relation }}.n_passages = 0 then 'nothing scheduled'
        when {{ relation }}.n_due = 0 then 'timetable unknown'
        when {{ relation }}.n_likely = 0 or {{ relation }}.n_likely < rules.seen_threshold * {{ relation }}.n_passages
            then 'coverage under threshold'
    end
{%- endmacro %}

{# Punctuality summed over a period of service dates, as shares with bounds and coverage, with and without the
   passages of trips that did not run. What was seen of a line and direction stands for all of its passages that were
   due: the lines that are hard to see are not as punctual as the others. A share is null, with the reason, where it
   could not be believed.

   name, first: the column that names the period and the expression of its first service date.
   keys:        columns of the grain beside operator and period; none for the whole network. #}
{% macro punctuality_over(name, first, keys) -%}
{%- set visits = [
    "n_due", "n_visits", "n_scheduled", "n_early", "n_on_time", "n_late", "n_indeterminate", "n_likely_early",
    "n_likely_on_time", "n_likely_late", "n_evidenced", "n_bounded", "n_estimated", "n_untracked", "n_delays",
    "delay_seconds_sum"
] -%}
{%- set delivered = ["n_scheduled_trips", "n_not_run", "n_passages_not_run"] -%}
{%- set sources = {"punctuality": visits, "service_delivered": delivered} -%}
with facts as (
    {%- for source, counts in sources.items() %}
    select
        operator,
        {{ first }} as {{ name }},
        line_code,
        direction,
        {%- for count in visits + delivered %}
        {{ count if count in counts else 0 ~ " as " ~ count }},
        {%- endfor %}
        {{ "n_likely_early + n_likely_on_time + n_likely_late" if source == "punctuality" else 0 }} as n_likely,
        {{ "case when n_visits > 0 then service_date end" if source == "punctuality" else "cast(null as date)" }}
            as seen_date,
        ruleset_version
    from {{ ref(source) }}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
),

lines_of_period as (
    select
        *,
        {%- for count in ["n_due", "n_scheduled", "n_likely", "n_delays"] %}
        sum({{ count }}) over (partition by operator, {{ name }}, line_code, direction) as line_{{ count }}
        {{- "," if not loop.last }}
        {%- endfor %}
    from facts
),

weighed as (
    -- for how many passages each visit of a line stands, among those that are scheduled, judged, or have a delay
    select
        *,
        case when line_n_due >= line_n_scheduled then n_due else n_scheduled end as n_passages,
        {%- for count in ["n_scheduled", "n_likely", "n_delays"] %}
        cast(greatest(line_n_due, line_n_scheduled) as double) / nullif(line_{{ count }}, 0) as per_{{ count }}
        {{- "," if not loop.last }}
        {%- endfor %}
    from lines_of_period
),

sums as (
    select
        operator,
        {{ name }},
        {%- for key in keys %}
        {{ key }},
        {%- endfor %}
        count(distinct seen_date) as n_dates,
        {%- for count in visits + delivered + ["n_likely", "n_passages"] %}
        cast(sum({{ count }}) as bigint) as {{ count }},
        {%- endfor %}
        sum(n_likely_on_time * per_n_likely) / nullif(sum(n_likely * per_n_likely), 0) as share,
        sum(n_on_time * per_n_scheduled) / nullif(sum(n_scheduled * per_n_scheduled), 0) as share_low,
        sum((n_on_time + n_indeterminate) * per_n_scheduled) / nullif(sum(n_scheduled * per_n_scheduled), 0)
            as share_high,
        sum(n_likely_on_time * per_n_likely)
        / nullif(sum(n_likely * per_n_likely) + sum(n_passages_not_run), 0) as share_of_promised,
        sum(delay_seconds_sum * per_n_delays) / nullif(sum(n_delays * per_n_delays), 0) as mean_delay_seconds,
        min(ruleset_version) as first_ruleset_version,
        max(ruleset_version) as ruleset_version
    from weighed
    group by operator, {{ name }}{% for key in keys %}, {{ key }}{% endfor %}
    having sum(n_visits) + sum(n_scheduled_trips) > 0
),

judged as (
    select
        sums.*,
        coalesce(cast(sums.n_likely as double) / nullif(sums.n_passages, 0), 0) as coverage,
        case
            when sums.first_ruleset_version != sums.ruleset_version then 'several rulesets'
            else {{ why_no_share("sums", is_of_a_line=keys | length > 0) }}
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
    {%- for count in visits + delivered %}
    {{ count }},
    {%- endfor %}
    ruleset_version,
    coverage,
    null_reason,
    -- visits not seen passing may be surely late: the point keeps inside its bounds
    case when null_reason is null then least(share, share_high) end as on_time_share,
    case when null_reason is null then share_low end as on_time_share_low,
    case when null_reason is null then share_high end as on_time_share_high,
    case when null_reason is null then share_of_promised end as on_time_share_of_promised,
    case
        when null_reason is null then cast(n_on_time as double) / (n_passages + n_passages_not_run)
    end as on_time_share_of_promised_low,
    case
        when null_reason is null
            then
                cast(n_passages - n_scheduled + n_on_time + n_indeterminate as double)
                / (n_passages + n_passages_not_run)
    end as on_time_share_of_promised_high,
    case when null_reason is null then mean_delay_seconds end as mean_delay_seconds
from judged
{%- endmacro %}
