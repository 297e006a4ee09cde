{{ config(schema='intermediate') }}
-- One row per operator, service_date, ruleset, line and direction, of rulesets that judge frequent service by its
-- waits: the headways at the stops and in the hours that are frequent by the ruleset, of all buses due, and of those
-- observed how many were long gaps. Stops and hours in which too few trips were observed do not take part.
{%- set grain = "operator, service_date, ruleset, line_code, direction" %}
{%- set line_stop = "operator, service_date, line_code, direction, stop_code" %}
{%- set stop_hour = line_stop ~ ", service_hour" %}
with stop_hours as (
    select
        headways.*,
        judging.ruleset,
        judging.gap_ratio
    from {{ built('headways') }} as headways
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    inner join {{ ref('judging_rulesets') }} as judging
        on
            headways.ruleset_version = judging.ruleset_version
            and judging.frequent_judged_by = 'excess_wait'
            and headways.service_hour >= coalesce(judging.from_hour, headways.service_hour)
            and headways.service_hour < coalesce(judging.to_hour, headways.service_hour + 1)
            and headways.n_due >= judging.frequent_per_hour
    left join {{ ref('named_stops') }} as named_stops using ({{ line_stop }}, stop_scope)
    where
        (judging.stop_scope = 'all' or named_stops.stop_code is not null)
        and headways.is_complete
        and headways.expected_seconds_sum * headways.due_seconds_sum > 0
        and headways.n_due_of_observed_trips >= rules.coverage_threshold * headways.n_due
),

observed as (
    -- a gap is long compared with the mean headway scheduled in the hour
    select
        *,
        sum(scheduled_seconds) over stop_hour / nullif(sum(n_scheduled) over stop_hour, 0) as mean_scheduled_seconds
    from {{ built('observed_headways') }}
    window stop_hour as (partition by {{ stop_hour }})
),

gaps as (
    select
        {{ stop_hour }},
        ruleset,
        count(*) as n_headways,
        count(case when headway_seconds >= gap_ratio * mean_scheduled_seconds then 1 end) as n_gaps
    from stop_hours
    inner join observed using ({{ stop_hour }})
    where gap_ratio is not null
    group by {{ stop_hour }}, ruleset
)

select
    {{ grain }},
    count(*) as n_stop_hours,
    {%- for sum in ["n_due", "n_due_of_observed_trips", "due_seconds_sum", "due_seconds_squared_sum",
        "expected_seconds_sum", "expected_seconds_squared_sum"] %}
        cast(sum({{ sum }}) as bigint) as {{ sum }},
    {%- endfor %}
    greatest({{ exact_sum('line_variance') }}, 0) as line_variance,
    {%- for count in ["n_headways", "n_gaps"] %}
        cast(coalesce(sum(gaps.{{ count }}), 0) as bigint) as {{ count }},
    {%- endfor %}
    max(ruleset_version) as ruleset_version
from stop_hours
left join gaps using ({{ stop_hour }}, ruleset)
group by {{ grain }}
