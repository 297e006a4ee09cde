-- Of how many dates of the period the timetable of each line was answered: at all, more than once, and after that of a
-- date before, of the same type of day, of which it was answered by then.
with timetables as (
    select
        left(key, length(key) - 11) as line_code,
        try_cast(right(key, 10) as date) as service_date,
        min(received_at) as first_at,
        count(*) as n_answers
    from core.requests
    where endpoint = 'timetables' and is_good
    group by all
),

dated as (
    select
        *,
        case isodow(service_date) when 6 then 'saturday' when 7 then 'sunday' else 'weekday' end as day_type
    from timetables
    where service_date is not null
),

comparable as (
    select distinct
        dated.line_code,
        dated.service_date
    from dated
    inner join dated as before
        on
            dated.line_code = before.line_code
            and dated.day_type = before.day_type
            and before.service_date between dated.service_date - 28 and dated.service_date - 1
            and dated.first_at >= before.first_at
)

select
    dated.line_code,
    count(*) as n_dates,
    count_if(dated.n_answers > 1) as n_again,
    count(comparable.service_date) as n_comparable
from dated
left join comparable using (line_code, service_date)
where dated.service_date between $first and $last
group by dated.line_code
order by dated.line_code
