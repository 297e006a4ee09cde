-- What share of a line's passages was on time in the latest month, by hour of the service day?
-- Change the line and the month here. First the estimated share of all passages due, with its 95 % interval; then what
-- was seen: the bounds count every indeterminate visit as not on time (low) or on time (high), and where too few of the
-- passages due were observed these shares are null, with the reason.
with selected as (
    select
        '018-00' as line_code,
        date_trunc('month', max(service_date)) as from_date,
        max(service_date) as to_date
    from marts.punctuality
),

hours as (
    select
        counts.direction,
        counts.service_hour,
        sum(counts.n_scheduled) as n_scheduled,
        sum(counts.n_likely_on_time) as n_likely_on_time,
        sum(counts.n_likely_early + counts.n_likely_on_time + counts.n_likely_late) as n_likely,
        sum(counts.n_on_time) as n_on_time,
        sum(counts.n_indeterminate) as n_indeterminate,
        sum(counts.n_due) as n_due,
        greatest(sum(counts.n_due), sum(counts.n_scheduled)) as n_passages,
        sum(counts.expected_on_time) as expected_on_time,
        1.96 * sqrt(
            sum(counts.on_time_variance) * (1 + max(rules.date_correlation) * (count(distinct counts.service_date) - 1))
            + power(sum(counts.common_error), 2)
        ) as half_interval,
        max(rules.widest_interval) as widest_interval,
        max(rules.seen_threshold) as seen_threshold
    from marts.punctuality as counts
    inner join selected
        on counts.line_code = selected.line_code and counts.service_date between selected.from_date and selected.to_date
    inner join core.rulesets as rules on counts.ruleset_version = rules.ruleset_version
    group by counts.direction, counts.service_hour
),

judged as (
    select
        *,
        case
            when n_passages = 0 then 'nothing scheduled'
            when n_due = 0 then 'timetable unknown'
            when n_likely = 0 or n_likely < seen_threshold * n_passages then 'coverage under threshold'
        end as null_reason,
        n_due > 0 and 2 * half_interval <= widest_interval * n_due as is_estimated
    from hours
)

select
    direction,
    service_hour,
    n_passages,
    n_likely,
    case when is_estimated then round(expected_on_time / n_due, 3) end as estimated_on_time_share,
    case when is_estimated then round(greatest(expected_on_time - half_interval, 0) / n_due, 3) end
        as estimated_on_time_share_low,
    case when is_estimated then round(least((expected_on_time + half_interval) / n_due, 1), 3) end
        as estimated_on_time_share_high,
    case when null_reason is null then round(n_on_time / n_scheduled, 3) end as on_time_share_low,
    case
        when null_reason is null
            then round(least(n_likely_on_time / n_likely, (n_on_time + n_indeterminate) / n_scheduled), 3)
    end as on_time_share,
    case when null_reason is null then round((n_on_time + n_indeterminate) / n_scheduled, 3) end as on_time_share_high,
    round(n_likely / nullif(n_passages, 0), 3) as coverage,
    null_reason
from judged
order by direction, service_hour
