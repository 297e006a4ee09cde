-- How punctual was each line in a month? Estimated shares of all passages due in the latest month, seen or not, with a
-- 95 % interval. Change the month here. Any set of lines, hours and dates can be asked for like this: expected numbers
-- and variances are summed first, and shares computed last. A mean of daily shares, or of their intervals, would be
-- wrong.
with selected as (
    select
        date_trunc('month', max(service_date)) as from_date,
        max(service_date) as to_date
    from marts.punctuality
),

sums as (
    select
        counts.line_code,
        count(distinct counts.service_date) as n_dates,
        sum(counts.n_due) as n_due,
        sum(counts.n_due - counts.n_unobserved) as n_observed,
        sum(counts.expected_early) as expected_early,
        sum(counts.expected_on_time) as expected_on_time,
        sum(counts.expected_late) as expected_late,
        sum(counts.expected_delay_seconds_sum) as delay_seconds_sum,
        -- trips differ by chance, so their variances add up; errors of a line are alike on several dates, and what all
        -- estimates have in common does not cancel out
        1.96 * sqrt(
            sum(counts.on_time_variance) * (1 + max(rules.date_correlation) * (count(distinct counts.service_date) - 1))
            + power(sum(counts.common_error), 2)
        ) as half_interval,
        max(rules.widest_interval) as widest_interval
    from marts.punctuality as counts
    inner join selected on counts.service_date between selected.from_date and selected.to_date
    inner join core.rulesets as rules on counts.ruleset_version = rules.ruleset_version
    where counts.line_code is not null
    group by counts.line_code
),

shares as (
    select
        *,
        expected_on_time / nullif(n_due, 0) as on_time_share,
        half_interval / nullif(n_due, 0) as half_share,
        case
            when n_due = 0 then 'nothing due'
            when 2 * half_interval > widest_interval * n_due then 'interval too wide'
        end as null_reason
    from sums
)

select
    line_code,
    n_dates,
    n_due,
    n_observed,
    case when null_reason is null then round(on_time_share, 3) end as on_time_share,
    case when null_reason is null then round(greatest(on_time_share - half_share, 0), 3) end as on_time_share_low,
    case when null_reason is null then round(least(on_time_share + half_share, 1), 3) end as on_time_share_high,
    case when null_reason is null then round(expected_early / n_due, 3) end as early_share,
    case when null_reason is null then round(expected_late / n_due, 3) end as late_share,
    case when null_reason is null then round(delay_seconds_sum / n_due, 0) end as mean_delay_seconds,
    null_reason
from shares
order by line_code
