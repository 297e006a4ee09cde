-- Did a new timetable help? Estimated on-time shares of each line, over all passages due, on the weekdays of the four
-- weeks before `--from` and of the four weeks from it on. Only dates count that are over, and on which the line was
-- observed. Dates differ also without a new timetable: the interval of the difference goes by how much they do, and by
-- how uncertain each estimate is. `better`: it lies above 0; `worse`: below. With fewer than five dates on a side
-- nothing can be said. Of twenty lines that did not change, about one will seem to.
with asked as (
    select
        operator,
        coalesce(getvariable('from_date'), max(service_date)) as changed_date
    from core.closed_dates
    group by operator
),

days as (
    select
        counts.operator,
        counts.line_code,
        counts.direction,
        counts.service_date,
        counts.service_date >= asked.changed_date as is_after,
        sum(counts.n_due) as n_due,
        sum(counts.expected_on_time) as expected_on_time,
        sum(counts.on_time_variance) as on_time_variance,
        sum(counts.common_error) as common_error
    from marts.punctuality as counts
    inner join core.closed_dates using (operator, service_date)
    inner join asked
        on
            counts.operator = asked.operator
            and counts.service_date >= asked.changed_date - 28
            and counts.service_date < asked.changed_date + 28
    where
        counts.line_code is not null and isodow(counts.service_date) <= 5
        and (getvariable('lines') is null or list_contains(getvariable('lines'), counts.line_code))
    group by counts.operator, counts.line_code, counts.direction, counts.service_date, asked.changed_date
    having sum(counts.n_expected) < sum(counts.n_due)
),

periods as (
    select
        operator,
        line_code,
        direction,
        is_after,
        count(*) as n_dates,
        sum(n_due) as n_due,
        sum(expected_on_time) / sum(n_due) as share,
        sum(on_time_variance) as on_time_variance,
        sum(common_error) as common_error
    from days
    group by operator, line_code, direction, is_after
),

shares as (
    -- the squared standard error of a share: from date to date, and of the estimates of the dates; the errors that a
    -- line has on all dates cancel out in the difference
    select
        periods.operator,
        periods.line_code,
        periods.direction,
        periods.is_after,
        periods.n_dates,
        periods.n_due,
        periods.share,
        (
            sum(power(days.expected_on_time - periods.share * days.n_due, 2))
            * periods.n_dates / nullif(periods.n_dates - 1, 0)
            + periods.on_time_variance + power(periods.common_error, 2)
        ) / power(periods.n_due, 2) as variance
    from periods
    inner join days using (operator, line_code, direction, is_after)
    group by
        periods.operator, periods.line_code, periods.direction, periods.is_after, periods.n_dates, periods.n_due,
        periods.share, periods.on_time_variance, periods.common_error
),

before as (
    select * from shares
    where not is_after
),

after as (
    select * from shares
    where is_after
),

compared as (
    select
        operator,
        line_code,
        direction,
        before.n_dates as n_dates_before,
        after.n_dates as n_dates_after,
        before.n_due as n_due_before,
        after.n_due as n_due_after,
        before.share as share_before,
        after.share as share_after,
        least(before.n_dates, after.n_dates) >= 5 as is_enough,
        -- about Student's factor of a 95 % interval: wider than 1.96 with few dates
        (1.96 + 3.2 / (least(before.n_dates, after.n_dates) - 1)) * sqrt(before.variance + after.variance)
            as half_interval
    from before
    full outer join after using (operator, line_code, direction)
)

select
    operator,
    line_code,
    direction,
    n_dates_before,
    n_dates_after,
    n_due_before,
    n_due_after,
    round(share_before, 3) as on_time_share_before,
    round(share_after, 3) as on_time_share_after,
    round(share_after - share_before, 3) as difference,
    case when is_enough then round(share_after - share_before - half_interval, 3) end as difference_low,
    case when is_enough then round(share_after - share_before + half_interval, 3) end as difference_high,
    case
        when share_before is null or share_after is null then 'nothing to compare'
        when not is_enough then 'too few dates'
        when share_after - share_before > half_interval then 'better'
        when share_before - share_after > half_interval then 'worse'
        else 'cannot be told apart'
    end as verdict
from compared
order by operator, line_code, direction
