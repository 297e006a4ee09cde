-- One row per operator, service_date and stop: how many passages were due there, how many were observed, and how
-- punctual they were, estimated for all of them.
with sums as (
    select
        due.operator,
        due.service_date,
        due.stop_code,
        count(*) as n_due,
        count(case when due.arrival_quality in ('evidenced', 'bounded') then 1 end) as n_observed,
        count(case when due.arrival_quality not in ('evidenced', 'bounded') then 1 end) as n_unobserved,
        count(case when due.arrival_quality = 'expected' then 1 end) as n_expected,
        {%- for verdict, condition in {
            "early": "due.delay_seconds < rules.early_seconds",
            "on_time": "due.delay_seconds between rules.early_seconds and rules.late_seconds",
            "late": "due.delay_seconds > rules.late_seconds"
        }.items() %}
            count(case when due.arrival_quality in ('evidenced', 'bounded') and {{ condition }} then 1 end)
                as n_likely_{{ verdict }},
            cast(sum(due.{{ verdict }}_probability) as decimal(18, 6)) as expected_{{ verdict }},
            -- the passages of a stop are of different trips: but for what those of a line have in common, independent
            cast(
                sum(
                    due.{{ verdict }}_probability * (1 - due.{{ verdict }}_probability)
                    + due.{{ verdict }}_stop_variance
                ) as decimal(18, 6)
            ) as {{ verdict }}_variance,
        {%- endfor %}
        cast(sum(due.common_error) as decimal(18, 6)) as common_error,
        cast(sum(due.delay_seconds) as bigint) as expected_delay_seconds_sum,
        cast(
            sum(cast(due.delay_error_seconds * due.delay_error_seconds + due.delay_stop_variance as decimal(18, 3)))
            as decimal(18, 3)
        ) as delay_variance,
        max(due.ruleset_version) as ruleset_version
    from {{ built('trip_trajectories') }} as due
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    group by due.operator, due.service_date, due.stop_code
),

judged as (
    select
        sums.*,
        {{ estimate_null_reason_of('sums', is_of_a_line=false) }} as estimate_null_reason,
        {{ estimate_intervals('sums') }}
    from sums
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
)

select
    operator,
    service_date,
    stop_code,
    n_due,
    n_observed,
    n_unobserved,
    n_expected,
    n_likely_early,
    n_likely_on_time,
    n_likely_late,
    expected_early,
    expected_on_time,
    expected_late,
    early_variance,
    on_time_variance,
    late_variance,
    common_error,
    expected_delay_seconds_sum,
    delay_variance,
    ruleset_version,
    estimate_null_reason,
    {{ estimated_shares() }}
from judged
