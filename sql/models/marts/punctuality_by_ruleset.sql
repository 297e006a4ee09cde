-- One row per operator, service_date, ruleset, line, direction and service_hour: how many passages (or trips) the
-- ruleset judges, and how punctual they were by it. Counts and sums only, so that they add up over any period. The
-- estimates are those of core.trip_trajectories: only the band, the stops and the hours differ.
{%- set hour = "operator, service_date, ruleset, line_code, direction, service_hour" %}
{%- set counts = ["n_due", "n_observed", "n_expected", "n_frequent"] %}
{%- set sums = {
    "expected_early": "early_probability",
    "expected_on_time": "on_time_probability",
    "expected_late": "late_probability",
    "early_variance": "early_variance",
    "on_time_variance": "on_time_variance",
    "late_variance": "late_variance",
    "common_error": as_decimal("common_error", 7, 6)
} %}
with scoped as (
    select
        calls.*,
        judging.ruleset,
        judging.early_seconds,
        judging.late_seconds,
        {{ is_frequent_passage('calls') }} as is_frequent
    from {{ built('estimated_passages') }} as calls
    {{ join_judging_rulesets('calls') }} and not judging.is_in_force
),

passages as (
    select * from scoped
    where not is_frequent
),

{{ passage_verdicts('passages') }},

counted as (
    select
        {{ hour }},
        count(*) as n_due,
        count(case when is_seen and not is_guessed then 1 end) as n_observed,
        count(case when not (is_seen and not is_guessed) and side like 'none%' then 1 end) as n_expected,
        0 as n_frequent,
        {%- for name, value in sums.items() %}
            sum({{ value }}) as {{ name }},
        {%- endfor %}
        max(ruleset_version) as ruleset_version
    from verdicts
    group by {{ hour }}
    union all
    select
        {{ hour }},
        0 as n_due,
        0 as n_observed,
        0 as n_expected,
        count(*) as n_frequent,
        {%- for name in sums %}
            0 as {{ name }},
        {%- endfor %}
        max(ruleset_version) as ruleset_version
    from scoped
    where is_frequent
    group by {{ hour }}
    union all
    select
        operator,
        service_date,
        'default' as ruleset,
        line_code,
        direction,
        service_hour,
        n_due,
        n_due - n_unobserved as n_observed,
        n_expected,
        0 as n_frequent,
        {{ sums | join(", ") }},
        ruleset_version
    from {{ built('punctuality') }}
    where n_due > 0
)

select
    {{ hour }},
    {%- for count in counts %}
        cast(sum({{ count }}) as bigint) as {{ count }},
    {%- endfor %}
    cast(sum(n_due - n_observed) as bigint) as n_unobserved,
    {%- for sum in sums %}
        cast(sum({{ sum }}) as decimal(18, 6)) as {{ sum }},
    {%- endfor %}
    max(ruleset_version) as ruleset_version
from counted
group by {{ hour }}
