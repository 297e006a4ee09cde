-- One row per operator, service_date and stop: how many passages were due there, how many were observed, and how
-- punctual they were, estimated for all of them.
{%- set verdicts = {
    "early": "delay_seconds < rules.early_seconds",
    "on_time": "delay_seconds between rules.early_seconds and rules.late_seconds",
    "late": "delay_seconds > rules.late_seconds"
} %}
with due as (
    select
        *,
        arrival_quality in ('evidenced', 'bounded') as is_observed
    from {{ built('trip_trajectories') }}
),

summed as (
    select
        operator,
        service_date,
        stop_code,
        count(*) as n_due,
        count(case when is_observed then 1 end) as n_observed,
        count(case when not is_observed then 1 end) as n_unobserved,
        count(case when arrival_quality = 'expected' then 1 end) as n_expected,
        {%- for verdict, condition in verdicts.items() %}
            count(case when is_observed and {{ condition }} then 1 end) as n_likely_{{ verdict }},
        {%- endfor %}
        {%- for verdict in verdicts %}
            cast(sum({{ verdict }}_probability) as decimal(18, 6)) as expected_{{ verdict }},
        {%- endfor %}
        {%- for verdict in verdicts %}
            -- the passages of a stop are of different trips: but for what those of a line have in common, independent
            cast(
                sum({{ verdict }}_probability * (1 - {{ verdict }}_probability) + {{ verdict }}_stop_variance)
                as decimal(18, 6)
            ) as {{ verdict }}_variance,
        {%- endfor %}
        cast(sum(common_error) as decimal(18, 6)) as common_error,
        cast(sum(delay_seconds) as bigint) as expected_delay_seconds_sum,
        cast(
            sum({{ as_decimal("delay_error_seconds * delay_error_seconds + delay_stop_variance", 18, 3) }})
            as decimal(18, 3)
        ) as delay_variance,
        max(ruleset_version) as ruleset_version
    from due
    inner join {{ ref('rulesets') }} as rules using (ruleset_version)
    group by operator, service_date, stop_code
),

sums as (
    select
        summed.*,
        dates.null_reason as unrecognised
    from summed
    left join {{ built('unrecognised_dates') }} as dates using (operator, service_date)
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
    * {{ exclude(
        "unrecognised, half_early_interval, half_on_time_interval, half_late_interval, half_delay_interval"
    ) }},
    {{ estimated_shares() }}
from judged
