-- How punctual was each line in a month? Estimated shares of all passages due in the latest month, seen or not, with a
-- 95 % interval. Only dates that are over count. Any lines, hours and dates can be asked for like this: the function
-- sums expected numbers and variances first, and divides last. A mean of daily shares, or of their intervals, would be
-- wrong. Where too little is known a share is null, with the reason.
with selected as (
    select
        operator,
        coalesce(getvariable('from_date'), max(month_starts_date)) as from_date,
        least(getvariable('to_date'), max(service_date)) as to_date
    from core.closed_dates
    group by operator
)

select
    lines.operator,
    lines.key as line_code,
    lines.n_dates,
    lines.n_due,
    lines.n_due - lines.n_unobserved as n_observed,
    round(lines.estimated_on_time_share, 3) as on_time_share,
    round(lines.estimated_on_time_share_low, 3) as on_time_share_low,
    round(lines.estimated_on_time_share_high, 3) as on_time_share_high,
    round(lines.estimated_early_share, 3) as early_share,
    round(lines.estimated_late_share, 3) as late_share,
    round(lines.estimated_mean_delay_seconds, 0) as mean_delay_seconds,
    lines.estimate_null_reason as null_reason
from selected
inner join lateral punctuality_between(line_code, selected.from_date, selected.to_date) as lines
    on selected.operator = lines.operator
where lines.key is not null and (getvariable('lines') is null or list_contains(getvariable('lines'), lines.key))
order by lines.operator, lines.key
