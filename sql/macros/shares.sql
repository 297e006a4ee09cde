{# Why a share of passages must be null; null where it may be given.

   relation:     has n_due, n_passages, n_likely, unrecognised and, if is_of_a_line, line_code; joined with `rules`.
   is_of_a_line: whether rows of unknown line have no share. #}
{% macro null_reason_of(relation, is_of_a_line) -%}
    case
        when {{ relation }}.unrecognised is not null then {{ relation }}.unrecognised
        {%- if is_of_a_line %}
        when {{ relation }}.line_code is null then 'line unknown'
        {%- endif %}
        when {{ relation }}.n_passages = 0 then 'nothing scheduled'
        when {{ relation }}.n_due = 0 then 'timetable unknown'
        when {{ relation }}.n_likely = 0 or {{ relation }}.n_likely < rules.seen_threshold * {{ relation }}.n_passages
            then 'coverage under threshold'
    end
{%- endmacro %}

{# By how much the variance of a sum over several dates is larger than the sum of their variances: the errors of a line,
   or of a stop, are alike from date to date (the design effect of survey sampling). In a relation joined with `rules`.

   n_dates: how many dates it sums over, as an expression. #}
{% macro design_effect(n_dates) -%}
    {{- 1 if n_dates == 1 else "(1 + rules.date_correlation * greatest(" ~ n_dates ~ " - 1, 0))" -}}
{%- endmacro %}

{# Half of the 95 % interval of an estimated share of passages: what is uncertain about each trip, and what the
   estimates of all unobserved passages may have in common; null without passages due. In a relation joined with `rules`.

   name:     early, on_time or late.
   relation: has n_due, NAME_variance and common_error.
   n_dates:  how many dates it sums over, as an expression. #}
{% macro half_interval(name, relation, n_dates) -%}
    1.96 * sqrt(
        cast({{ relation }}.{{ name }}_variance as double) * {{ design_effect(n_dates) }}
        + power(cast({{ relation }}.common_error as double), 2)
    ) / nullif({{ relation }}.n_due, 0)
{%- endmacro %}

{# The same of the estimated mean delay, in seconds. #}
{% macro half_delay_interval(relation, n_dates) -%}
    1.96 * sqrt(
        cast({{ relation }}.delay_variance as double) * {{ design_effect(n_dates) }}
        + power(cast({{ relation }}.n_unobserved as double) * rules.unobserved_delay_bias_seconds, 2)
    ) / nullif({{ relation }}.n_due, 0)
{%- endmacro %}

{# Why an estimated share must be null; null where it may be given. Where no trip was observed anywhere, an estimate
   would be about other lines and hours. #}
{% macro estimate_null_reason_of(relation, is_of_a_line, n_dates=1) -%}
    case
        when {{ relation }}.unrecognised is not null then {{ relation }}.unrecognised
        {%- if is_of_a_line %}
        when {{ relation }}.line_code is null then 'line unknown'
        {%- endif %}
        when {{ relation }}.n_due = 0 then 'nothing due'
        when {{ relation }}.n_expected = {{ relation }}.n_due then 'nothing observed'
        when 2 * {{ half_interval('on_time', relation, n_dates) }} > rules.widest_interval then 'interval too wide'
    end
{%- endmacro %}

{# The common table expression `sums`: those of `summed`, and why none may be given (`unrecognised`), if on a date of the
   period too much of what was seen is not recognised (unrecognised_dates).

   name, first, among: as of punctuality_over. #}
{% macro recognised_sums(name, first, among) -%}
sums as (
    select
        summed.*,
        dates.unrecognised
    from summed
    left join (
        select
            operator,
            {{ first }} as {{ name }},
            min(null_reason) as unrecognised
        from {{ ref('unrecognised_dates') }}
        {{ among }}
        group by operator, {{ first }}
    ) as dates using (operator, {{ name }})
)
{%- endmacro %}

{# Half of each interval, for estimated_shares. In a relation joined with `rules`. #}
{% macro estimate_intervals(relation, n_dates=1) -%}
    {%- for name in ["early", "on_time", "late"] %}
    {{ half_interval(name, relation, n_dates) }} as half_{{ name }}_interval,
    {%- endfor %}
    {{ half_delay_interval(relation, n_dates) }} as half_delay_interval
{%- endmacro %}

{# The sums of estimated shares: how many passages are expected to be early, on time and late, how uncertain that is, and
   what the estimates of all unobserved passages may be wrong by in common. #}
{% macro expected_sums() -%}
    {{- return([
        "expected_early", "expected_on_time", "expected_late", "early_variance", "on_time_variance", "late_variance",
        "common_error"
    ]) -}}
{%- endmacro %}

{# A share with the ends of its interval; null where there is a reason.

   share, half, reason: expressions of the share, half of its interval and the reason.
   name:                of the share; those of the ends are made of it. #}
{% macro share_with_interval(share, half, reason, name) -%}
    case when {{ reason }} is null then {{ share }} end as {{ name }},
    case when {{ reason }} is null then greatest({{ share }} - {{ half }}, 0) end as {{ name }}_low,
    case when {{ reason }} is null then least({{ share }} + {{ half }}, 1) end as {{ name }}_high
{%- endmacro %}

{# The estimated shares of the passages due and their mean delay, each with its 95 % interval.
   In a relation with the sums of marts.punctuality, estimate_intervals and estimate_null_reason. #}
{% macro estimated_shares() -%}
    {%- for name in ["early", "on_time", "late"] %}
    {{ share_with_interval(
        "cast(expected_" ~ name ~ " as double) / n_due", "half_" ~ name ~ "_interval", "estimate_null_reason",
        "estimated_" ~ name ~ "_share"
    ) }},
    {%- endfor %}
    {%- for end, value in {"": "", "_low": " - half_delay_interval", "_high": " + half_delay_interval"}.items() %}
    case when estimate_null_reason is null then cast(expected_delay_seconds_sum as double) / n_due{{ value }} end
        as estimated_mean_delay_seconds{{ end }}
    {{- "," if not loop.last }}
    {%- endfor %}
{%- endmacro %}

{# Punctuality summed over a period of service dates, as shares with bounds and coverage, with and without the
   passages of departures that did not run. Each line and direction is weighted by its passages due, not by its visits:
   lines that are observed less often differ in punctuality. A share is null, with the reason, where too little is known.

   name, first: the column that names the period and the expression of its first service date.
   keys:        columns of the grain besides operator and period; none for the whole network.
   among:       what follows each source: a join or a condition that leaves some of its dates.
   grouped_by:  an expression of line_code, direction, service_date and service_hour that the key `grouped_by` is made
                of; trips that did not run are then left out. #}
{% macro punctuality_over(name, first, keys, among="", grouped_by="") -%}
{%- set grain = (["operator", name] + keys) | join(", ") -%}
{%- set visits = [
    "n_due", "n_visits", "n_scheduled", "n_early", "n_on_time", "n_late", "n_indeterminate", "n_likely_early",
    "n_likely_on_time", "n_likely_late", "n_evidenced", "n_bounded", "n_estimated", "n_untracked", "n_delays",
    "delay_seconds_sum"
] -%}
{%- set estimates = ["n_unobserved", "n_expected"] + expected_sums() + ["expected_delay_seconds_sum", "delay_variance"] -%}
{%- set delivered = [] if grouped_by else ["n_scheduled_trips", "n_not_run", "n_passages_not_run"] -%}
{%- set sources = [("punctuality", ref("punctuality"), visits + estimates)] -%}
{%- if delivered %}{% do sources.append(("service_delivered", ref("service_delivered"), delivered)) %}{% endif %}
with facts as (
    {%- for source, relation, counts in sources %}
    select
        operator,
        {{ first }} as {{ name }},
        line_code,
        direction,
        {%- if grouped_by %}
        service_date,
        service_hour,
        {%- endif %}
        {%- for count in visits + estimates + delivered %}
        {{ count if count in counts else 0 ~ " as " ~ count }},
        {%- endfor %}
        {{ "n_likely_early + n_likely_on_time + n_likely_late" if source == "punctuality" else 0 }} as n_likely,
        {{ "case when n_visits > 0 then service_date end" if source == "punctuality" else "cast(null as date)" }}
            as seen_date,
        {{ "case when n_due > 0 then service_date end" if source == "punctuality" else "cast(null as date)" }}
            as due_date,
        ruleset_version
    from {{ relation }}
    {{ among }}
    {%- if not loop.last %}
    union all
    {%- endif %}
    {%- endfor %}
),

line_sums as (
    select
        *,
        {%- for count in ["n_due", "n_scheduled", "n_likely", "n_delays"] %}
        sum({{ count }}) over (partition by operator, {{ name }}, line_code, direction) as line_{{ count }}
        {{- "," if not loop.last }}
        {%- endfor %}
    from facts
),

weighted as (
    -- Passages due per scheduled visit, per observed one, and per visit with a delay, of each line and direction.
    -- Decimals, because a sum of them does not depend on the order of the rows.
    select
        *,
        {%- if grouped_by %}
        {{ grouped_by }} as grouped_by,
        {%- endif %}
        case when line_n_due >= line_n_scheduled then n_due else n_scheduled end as n_passages,
        {%- for count in ["n_scheduled", "n_likely", "n_delays"] %}
        {{ as_decimal(
            "cast(greatest(line_n_due, line_n_scheduled) as double) / nullif(line_" ~ count ~ ", 0)", 17, 9
        ) }} as weight_{{ count[2:] }}
        {{- "," if not loop.last }}
        {%- endfor %}
    from line_sums
),

summed as (
    select
        {{ grain }},
        count(distinct seen_date) as n_dates,
        count(distinct due_date) as n_dates_due,
        {%- for count in visits + delivered + ["n_likely", "n_passages"] %}
        cast(sum({{ count }}) as bigint) as {{ count }},
        {%- endfor %}
        {%- for sum in estimates %}
        {{ exact_sum(sum, 6) if sum in expected_sums() + ["delay_variance"] else "cast(sum(" ~ sum ~ ") as bigint)" }} as {{ sum }},
        {%- endfor %}
        cast(sum(n_likely_on_time * weight_likely) as double) / nullif(sum(n_likely * weight_likely), 0) as share,
        cast(sum(n_on_time * weight_scheduled) as double)
        / nullif(sum(n_scheduled * weight_scheduled), 0) as share_low,
        cast(sum((n_on_time + n_indeterminate) * weight_scheduled) as double)
        / nullif(sum(n_scheduled * weight_scheduled), 0) as share_high,
        cast(sum(delay_seconds_sum * weight_delays) as double) / nullif(sum(n_delays * weight_delays), 0) as mean_delay_seconds,
        min(ruleset_version) as first_ruleset_version,
        max(ruleset_version) as ruleset_version
    from weighted
    group by {{ grain }}
    having sum(n_visits){{ " + sum(n_scheduled_trips)" if delivered }} > 0
),

{{ recognised_sums(name, first, among) }},

judged as (
    select
        sums.*,
        coalesce(cast(sums.n_likely as double) / nullif(sums.n_passages, 0), 0) as coverage,
        case
            when sums.first_ruleset_version != sums.ruleset_version then 'several rulesets'
            else {{ null_reason_of("sums", is_of_a_line="line_code" in keys) }}
        end as null_reason,
        case
            when sums.first_ruleset_version != sums.ruleset_version then 'several rulesets'
            else {{ estimate_null_reason_of("sums", is_of_a_line="line_code" in keys, n_dates="sums.n_dates_due") }}
        end as estimate_null_reason,
        {{ estimate_intervals("sums", n_dates="sums.n_dates_due") }}
    from sums
    inner join {{ ref('rulesets') }} as rules on sums.ruleset_version = rules.ruleset_version
)

select
    {{ grain }},
    n_dates,
    {%- for count in visits + estimates + delivered %}
    {{ count }},
    {%- endfor %}
    ruleset_version,
    estimate_null_reason,
    {{ estimated_shares() }},
    coverage,
    null_reason,
    -- only the bounds count visits that are late although not observed passing: the estimate stays within them
    case when null_reason is null then least(share, share_high) end as on_time_share,
    case when null_reason is null then share_low end as on_time_share_low,
    case when null_reason is null then share_high end as on_time_share_high,
    {%- if delivered %}
    case
        when null_reason is null then cast(n_on_time as double) / (n_passages + n_passages_not_run)
    end as on_time_share_of_promised_low,
    case
        when null_reason is null
            then
                cast(n_passages - n_scheduled + n_on_time + n_indeterminate as double)
                / (n_passages + n_passages_not_run)
    end as on_time_share_of_promised_high,
    {%- else %}
    least(2 * half_on_time_interval, 1) as interval_width,
    {%- endif %}
    case when null_reason is null then mean_delay_seconds end as mean_delay_seconds
from judged
{%- endmacro %}

{# Punctuality of the passages at stops summed over a period of service dates, as estimated shares and coverage.

   name, first, keys, among: as of punctuality_over. #}
{% macro stop_punctuality_over(name, first, keys, among="") -%}
{%- set grain = (["operator", name] + keys) | join(", ") -%}
{%- set counts = ["n_due", "n_observed", "n_unobserved", "n_expected"] -%}
{%- set estimates = expected_sums() + ["expected_delay_seconds_sum", "delay_variance"] -%}
with days as (
    select
        *,
        {{ first }} as {{ name }}
    from {{ ref('punctuality_by_stop') }}
    {{ among }}
),

summed as (
    select
        {{ grain }},
        count(distinct case when n_due > 0 then service_date end) as n_dates,
        {%- for count in counts %}
        cast(sum({{ count }}) as bigint) as {{ count }},
        {%- endfor %}
        {%- for sum in estimates %}
        {{ exact_sum(sum, 6) if sum in expected_sums() + ["delay_variance"] else "cast(sum(" ~ sum ~ ") as bigint)" }} as {{ sum }},
        {%- endfor %}
        min(ruleset_version) as first_ruleset_version,
        max(ruleset_version) as ruleset_version
    from days
    group by {{ grain }}
),

{{ recognised_sums(name, first, among) }},

judged as (
    select
        sums.*,
        case
            when sums.first_ruleset_version != sums.ruleset_version then 'several rulesets'
            else {{ estimate_null_reason_of("sums", is_of_a_line=false, n_dates="sums.n_dates") }}
        end as estimate_null_reason,
        {{ estimate_intervals("sums", n_dates="sums.n_dates") }}
    from sums
    inner join {{ ref('rulesets') }} as rules on sums.ruleset_version = rules.ruleset_version
)

select
    {{ grain }},
    n_dates,
    {%- for count in counts + estimates %}
    {{ count }},
    {%- endfor %}
    ruleset_version,
    estimate_null_reason,
    {{ estimated_shares() }},
    coalesce(cast(n_observed as double) / nullif(n_due, 0), 0) as coverage
from judged
{%- endmacro %}
