-- Dates from which a line had other departures than on the same weekday a week before, and for how many dates.
with promised as (
    select
        line_code,
        direction,
        service_date,
        count(*) as n_departures,
        list_sort(list(service_seconds)) as departures
    from core.scheduled_departures
    where is_in_force and service_date between $first - 7 and $last
    group by line_code, direction, service_date
),

compared as (
    select
        now.line_code,
        now.direction,
        now.service_date,
        now.n_departures,
        before.n_departures as n_departures_before,
        now.departures != before.departures as is_other
    from promised as now
    inner join promised as before
        on
            now.line_code = before.line_code
            and now.direction = before.direction
            and now.service_date - 7 = before.service_date
),

runs as (
    -- consecutive dates, all other than a week before, have one run_start
    select
        *,
        service_date - cast(
            row_number() over (partition by line_code, direction, is_other order by service_date) as integer
        ) as run_start
    from compared
)

select
    line_code,
    direction,
    min(service_date) as from_date,
    count(*) as n_dates,
    arg_min(n_departures_before, service_date) as n_departures_before,
    arg_min(n_departures, service_date) as n_departures
from runs
where is_other
group by line_code, direction, run_start
order by from_date, line_code, direction
