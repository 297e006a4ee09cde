-- One row per operator, service_date, line, direction and change: departures that an answer about the timetable added
-- or withdrew. The first answer about a line and date is no change.
with departures as (
    select
        *,
        min(valid_from) over (partition by operator, service_date, line_code) as first_promised_at
    from {{ built('timetable_departures') }}
),

changes as (
    select
        operator,
        service_date,
        line_code,
        direction,
        valid_from as changed_at,
        departure_at,
        1 as is_added,
        first_promised_at
    from departures
    where valid_from > first_promised_at
    union all
    select
        operator,
        service_date,
        line_code,
        direction,
        valid_to as changed_at,
        departure_at,
        0 as is_added,
        first_promised_at
    from departures
    where valid_to is not null
),

sums as (
    select
        operator,
        service_date,
        line_code,
        direction,
        changed_at,
        min(first_promised_at) as first_promised_at,
        count(case when is_added = 1 then 1 end) as n_added,
        count(case when is_added = 0 then 1 end) as n_withdrawn,
        count(case when is_added = 0 and departure_at <= changed_at then 1 end) as n_withdrawn_after_due,
        min(departure_at) as first_departure_at,
        max(departure_at) as last_departure_at
    from changes
    group by operator, service_date, line_code, direction, changed_at
),

after_change as (
    select
        sums.operator,
        sums.service_date,
        sums.line_code,
        sums.direction,
        sums.changed_at,
        count(*) as n_promised
    from sums
    inner join departures
        on
            sums.operator = departures.operator
            and sums.service_date = departures.service_date
            and sums.line_code = departures.line_code
            and sums.direction = departures.direction
            and sums.changed_at >= departures.valid_from
            and coalesce(sums.changed_at < departures.valid_to, true)
    group by sums.operator, sums.service_date, sums.line_code, sums.direction, sums.changed_at
)

select
    operator,
    service_date,
    line_code,
    direction,
    changed_at,
    sums.first_promised_at,
    sums.n_added,
    sums.n_withdrawn,
    sums.n_withdrawn_after_due,
    coalesce(after_change.n_promised, 0) - sums.n_added + sums.n_withdrawn as n_promised_before,
    coalesce(after_change.n_promised, 0) as n_promised,
    sums.first_departure_at,
    sums.last_departure_at
from sums
left join after_change using (operator, service_date, line_code, direction, changed_at)
