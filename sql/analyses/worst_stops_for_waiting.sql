-- At which stops do passengers of frequent lines wait longest beyond the timetable?
-- Excess wait over the latest four weeks: actual minus scheduled mean wait, estimated for all buses that were due,
-- observed or not, with a 95 % interval.
with weeks as (
    select max(service_date) - 27 as from_date
    from marts.headways
),

stops as (
    select
        headways.stop_code,
        headways.line_code,
        headways.direction,
        count(*) as n_hours,
        sum(headways.expected_seconds_squared_sum) / nullif(2 * sum(headways.expected_seconds_sum), 0) as awt_seconds,
        sum(headways.due_seconds_squared_sum) / nullif(2 * sum(headways.due_seconds_sum), 0) as swt_seconds,
        -- chance, errors that are alike on several dates, and what all estimates may have in common
        1.96 * sqrt(
            sum(headways.squared_sum_variance)
            * (1 + max(rules.date_correlation) * (count(distinct headways.service_date) - 1))
            / nullif(power(2 * sum(headways.expected_seconds_sum), 2), 0)
            + power(max(rules.unobserved_delay_bias_seconds), 2)
        ) as half_interval_seconds
    from marts.headways
    inner join weeks on headways.service_date >= weeks.from_date
    inner join core.rulesets as rules on headways.ruleset_version = rules.ruleset_version
    where coalesce(headways.estimate_null_reason, 'interval too wide') = 'interval too wide'
    group by headways.stop_code, headways.line_code, headways.direction
)

select
    stop_code,
    line_code,
    direction,
    n_hours,
    round(awt_seconds / 60, 2) as actual_wait_minutes,
    round(swt_seconds / 60, 2) as scheduled_wait_minutes,
    round((awt_seconds - swt_seconds) / 60, 2) as excess_wait_minutes,
    round((awt_seconds - swt_seconds - half_interval_seconds) / 60, 2) as excess_wait_minutes_low,
    round((awt_seconds - swt_seconds + half_interval_seconds) / 60, 2) as excess_wait_minutes_high
from stops
order by awt_seconds - swt_seconds desc, stop_code, line_code, direction
limit 20
