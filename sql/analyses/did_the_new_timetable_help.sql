-- Did a new timetable help? On-time shares of each line in the four weeks before a date and in the four weeks from it
-- on. Change the date here. `better`: the lower bound after is above the upper bound before; `worse`: the reverse;
-- where the two intervals overlap, the data do not tell.
with asked as (
    select max(service_date) as changed_date
    from marts.punctuality
),

sums as (
    select
        counts.line_code,
        counts.direction,
        counts.service_date >= asked.changed_date as is_after,
        count(distinct counts.service_date) as n_dates,
        sum(counts.n_scheduled) as n_scheduled,
        sum(counts.n_on_time) / nullif(sum(counts.n_scheduled), 0) as share_low,
        sum(counts.n_on_time + counts.n_indeterminate) / nullif(sum(counts.n_scheduled), 0) as share_high
    from marts.punctuality as counts
    inner join asked
        on counts.service_date >= asked.changed_date - 28 and counts.service_date < asked.changed_date + 28
    where counts.line_code is not null
    group by counts.line_code, counts.direction, counts.service_date >= asked.changed_date
),

before as (
    select * from sums
    where not is_after
),

after as (
    select * from sums
    where is_after
)

select
    line_code,
    direction,
    before.n_dates as n_dates_before,
    after.n_dates as n_dates_after,
    round(before.share_low, 3) as on_time_low_before,
    round(before.share_high, 3) as on_time_high_before,
    round(after.share_low, 3) as on_time_low_after,
    round(after.share_high, 3) as on_time_high_after,
    case
        when before.share_low is null or after.share_low is null then 'nothing to compare'
        when after.share_low > before.share_high then 'better'
        when after.share_high < before.share_low then 'worse'
        else 'cannot be told apart'
    end as verdict
from before
full outer join after using (line_code, direction)
order by line_code, direction
