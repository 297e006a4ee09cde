-- One row per operator, service_date, line, direction and service_hour: how many passages were due, how many visits
-- were seen, and how punctual both were. Counts and sums only, so that they add up over any period; visits of unknown
-- line are counted under a null line.
{%- set of_due = {
    "n_due": "bigint",
    "n_unobserved": "bigint",
    "n_expected": "bigint",
    "expected_early": "decimal(18, 6)",
    "expected_on_time": "decimal(18, 6)",
    "expected_late": "decimal(18, 6)",
    "early_variance": "decimal(18, 6)",
    "on_time_variance": "decimal(18, 6)",
    "late_variance": "decimal(18, 6)",
    "common_error": "decimal(18, 6)",
    "expected_delay_seconds_sum": "bigint",
    "delay_variance": "decimal(18, 3)"
} %}
with visits as (
    select
        operator,
        service_date,
        line_code,
        direction,
        service_hour,
        scheduled_at,
        arrival_quality,
        delay_seconds,
        delay_low_seconds,
        delay_high_seconds,
        punctuality,
        punctuality_point,
        {%- for name in of_due %}
            0 as {{ name }},
        {%- endfor %}
        ruleset_version
    from {{ built('stop_visits') }}
),

due as (
    -- a passage is due at every stop of a departure's leg; observed or not, it has an estimate
    select
        operator,
        service_date,
        line_code,
        direction,
        service_hour,
        count(*) as n_due,
        count(case when arrival_quality not in ('evidenced', 'bounded') then 1 end) as n_unobserved,
        count(case when arrival_quality = 'expected' then 1 end) as n_expected,
        sum(early_probability) as expected_early,
        sum(on_time_probability) as expected_on_time,
        sum(late_probability) as expected_late,
        sum(early_variance) as early_variance,
        sum(on_time_variance) as on_time_variance,
        sum(late_variance) as late_variance,
        sum(common_error) as common_error,
        sum(delay_seconds) as expected_delay_seconds_sum,
        sum(delay_variance) as delay_variance,
        max(ruleset_version) as ruleset_version
    from {{ built('trip_trajectories') }}
    group by operator, service_date, line_code, direction, service_hour
),

visits_and_due as (
    select * from visits
    union all
    select
        operator,
        service_date,
        line_code,
        direction,
        service_hour,
        null as scheduled_at,
        null as arrival_quality,
        null as delay_seconds,
        null as delay_low_seconds,
        null as delay_high_seconds,
        null as punctuality,
        null as punctuality_point,
        {%- for name in of_due %}
            {{ name }},
        {%- endfor %}
        ruleset_version
    from due
)

select
    operator,
    service_date,
    line_code,
    direction,
    service_hour,
    {%- for name, type in of_due.items() %}
        cast(sum({{ name }}) as {{ type }}) as {{ name }},
    {%- endfor %}
    count(arrival_quality) as n_visits,
    count(case when scheduled_at is not null then 1 end) as n_scheduled,
    count(case when punctuality = 'early' then 1 end) as n_early,
    count(case when punctuality = 'on_time' then 1 end) as n_on_time,
    count(case when punctuality = 'late' then 1 end) as n_late,
    count(case when punctuality = 'indeterminate' then 1 end) as n_indeterminate,
    count(case when punctuality = 'unscheduled' then 1 end) as n_unscheduled,
    count(case when punctuality_point = 'early' then 1 end) as n_likely_early,
    count(case when punctuality_point = 'on_time' then 1 end) as n_likely_on_time,
    count(case when punctuality_point = 'late' then 1 end) as n_likely_late,
    count(case when arrival_quality = 'evidenced' then 1 end) as n_evidenced,
    count(case when arrival_quality = 'bounded' then 1 end) as n_bounded,
    count(case when arrival_quality = 'estimated' then 1 end) as n_estimated,
    count(case when arrival_quality = 'untracked' then 1 end) as n_untracked,
    -- a sum of bounds is over the visits that have both
    count(case when delay_seconds is not null then 1 end) as n_delays,
    cast(coalesce(sum(delay_seconds), 0) as bigint) as delay_seconds_sum,
    count(case when delay_low_seconds is not null and delay_high_seconds is not null then 1 end)
        as n_bounded_delays,
    cast(coalesce(sum(case when delay_high_seconds is not null then delay_low_seconds end), 0) as bigint)
        as delay_low_seconds_sum,
    cast(coalesce(sum(case when delay_low_seconds is not null then delay_high_seconds end), 0) as bigint)
        as delay_high_seconds_sum,
    max(ruleset_version) as ruleset_version
from visits_and_due
group by operator, service_date, line_code, direction, service_hour
