-- One row per operator, service_date, line, direction and service_hour: how many passages were due, how many visits
-- were seen, and how punctual both were. Counts and sums only, so that they add up over any period; visits of unknown
-- line are counted under a null line.
{%- set hour = "operator, service_date, line_code, direction, service_hour" %}
{%- set of_visits = ["scheduled_at", "arrival_quality", "delay_seconds", "delay_low_seconds", "delay_high_seconds",
    "punctuality", "punctuality_point"] %}
{#- each with its value and its type #}
{%- set of_due = {
    "n_due": ("count(*)", "bigint"),
    "n_unobserved": ("count(case when arrival_quality not in ('evidenced', 'bounded') then 1 end)", "bigint"),
    "n_expected": ("count(case when arrival_quality = 'expected' then 1 end)", "bigint"),
    "expected_early": ("sum(early_probability)", "decimal(18, 6)"),
    "expected_on_time": ("sum(on_time_probability)", "decimal(18, 6)"),
    "expected_late": ("sum(late_probability)", "decimal(18, 6)"),
    "early_variance": ("sum(early_variance)", "decimal(18, 6)"),
    "on_time_variance": ("sum(on_time_variance)", "decimal(18, 6)"),
    "late_variance": ("sum(late_variance)", "decimal(18, 6)"),
    "common_error": ("sum(common_error)", "decimal(18, 6)"),
    "expected_delay_seconds_sum": ("sum(delay_seconds)", "bigint"),
    "delay_variance": ("sum(delay_variance)", "decimal(18, 3)")
} %}
with due as (
    -- a passage is due at every stop of a departure's leg; observed or not, it has an estimate
    select
        {{ hour }},
        {%- for name, (value, type) in of_due.items() %}
            {{ value }} as {{ name }},
        {%- endfor %}
        max(ruleset_version) as ruleset_version
    from {{ built('trip_trajectories') }}
    group by {{ hour }}
),

visits_and_due as (
    select
        {{ hour }},
        {{ of_visits | join(", ") }},
        {%- for name in of_due %}
            0 as {{ name }},
        {%- endfor %}
        ruleset_version
    from {{ built('stop_visits') }}
    union all
    select
        {{ hour }},
        {%- for name in of_visits %}
            null as {{ name }},
        {%- endfor %}
        {{ of_due | join(", ") }},
        ruleset_version
    from due
)

select
    {{ hour }},
    {%- for name, (value, type) in of_due.items() %}
        cast(sum({{ name }}) as {{ type }}) as {{ name }},
    {%- endfor %}
    count(arrival_quality) as n_visits,
    count(scheduled_at) as n_scheduled,
    {%- for verdict in ["early", "on_time", "late", "indeterminate", "unscheduled"] %}
        count(case when punctuality = '{{ verdict }}' then 1 end) as n_{{ verdict }},
    {%- endfor %}
    {%- for verdict in ["early", "on_time", "late"] %}
        count(case when punctuality_point = '{{ verdict }}' then 1 end) as n_likely_{{ verdict }},
    {%- endfor %}
    {%- for quality in ["evidenced", "bounded", "estimated", "untracked"] %}
        count(case when arrival_quality = '{{ quality }}' then 1 end) as n_{{ quality }},
    {%- endfor %}
    count(delay_seconds) as n_delays,
    cast(coalesce(sum(delay_seconds), 0) as bigint) as delay_seconds_sum,
    -- a sum of bounds is over the visits that have both
    count(case when delay_low_seconds is not null and delay_high_seconds is not null then 1 end) as n_bounded_delays,
    cast(coalesce(sum(case when delay_high_seconds is not null then delay_low_seconds end), 0) as bigint)
        as delay_low_seconds_sum,
    cast(coalesce(sum(case when delay_low_seconds is not null then delay_high_seconds end), 0) as bigint)
        as delay_high_seconds_sum,
    max(ruleset_version) as ruleset_version
from visits_and_due
group by {{ hour }}
