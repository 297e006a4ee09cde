-- Dates from which a line had other departures than on the same weekday a week before, or the same (`is_other`), and for
-- how many dates; `is_other` is null where the departures of a week before are not known.
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
    left join promised as before
        on
            now.line_code = before.line_code
            and now.direction = before.direction
            and now.service_date - 7 = before.service_date
    where now.service_date >= $first
),

runs as (
    -- consecutive dates that are alike in this have one run_start
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
    is_other,
    min(service_date) as from_date,
    count(*) as n_dates,
    arg_min(n_departures_before, service_date) as n_departures_before,
    arg_min(n_departures, service_date) as n_departures
from runs
group by line_code, direction, is_other, run_start
order by from_date, line_code, direction
