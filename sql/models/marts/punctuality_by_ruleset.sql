-- One row per operator, service_date, ruleset, line, direction and service_hour: how many passages (or trips) the
-- ruleset judges, and how punctual they were by it. Counts and sums only, so that they add up over any period. The
-- estimates are those of core.trip_trajectories: only the band, the stops and the hours differ.
{%- set sums = ["expected_early", "expected_on_time", "expected_late", "early_variance", "on_time_variance",
    "late_variance", "common_error"] %}
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
        operator,
        service_date,
        ruleset,
        line_code,
        direction,
        service_hour,
        0 as n_frequent,
        count(*) as n_due,
        count(case when is_seen and not is_guessed then 1 end) as n_observed,
        count(case when not (is_seen and not is_guessed) and side like 'none%' then 1 end) as n_expected,
        sum(early_probability) as expected_early,
        sum(on_time_probability) as expected_on_time,
        sum(late_probability) as expected_late,
        sum(early_variance) as early_variance,
        sum(on_time_variance) as on_time_variance,
        sum(late_variance) as late_variance,
        sum(cast(common_error as decimal(7, 6))) as common_error,
        max(ruleset_version) as ruleset_version
    from verdicts
    group by operator, service_date, ruleset, line_code, direction, service_hour
    union all
    select
        operator,
        service_date,
        ruleset,
        line_code,
        direction,
        service_hour,
        count(*) as n_frequent,
        0 as n_due,
        0 as n_observed,
        0 as n_expected,
        {%- for sum in sums %}
            0 as {{ sum }},
        {%- endfor %}
        max(ruleset_version) as ruleset_version
    from scoped
    where is_frequent
    group by operator, service_date, ruleset, line_code, direction, service_hour
    union all
    select
        operator,
        service_date,
        'default' as ruleset,
        line_code,
        direction,
        service_hour,
        0 as n_frequent,
        n_due,
        n_due - n_unobserved as n_observed,
        n_expected,
        {%- for sum in sums %}
            {{ sum }},
        {%- endfor %}
        ruleset_version
    from {{ built('punctuality') }}
    where n_due > 0
)

select
    operator,
    service_date,
    ruleset,
    line_code,
    direction,
    service_hour,
    {%- for count in ["n_due", "n_observed", "n_expected", "n_frequent"] %}
        cast(sum({{ count }}) as bigint) as {{ count }},
    {%- endfor %}
    cast(sum(n_due - n_observed) as bigint) as n_unobserved,
    {%- for sum in sums %}
        cast(sum({{ sum }}) as decimal(18, 6)) as {{ sum }},
    {%- endfor %}
    max(ruleset_version) as ruleset_version
from counted
group by operator, service_date, ruleset, line_code, direction, service_hour
