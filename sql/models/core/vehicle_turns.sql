-- One row per operator, service_date and trip whose id was on another trip afterwards: the trip its vehicle ran next,
-- and how long after the one departure the other is due, where timetable times tell both.
with trips as (
    select
        operator,
        service_date,
        listed_id,
        trip_id,
        line_code,
        direction,
        min(began_at) as began_at,
        row_number() over (
            partition by operator, service_date, trip_id order by count(*) desc, line_code, direction
        ) as nth_line
    from {{ ref('visit_runs') }}
    where position is not null and not is_stand_in and {{ is_built() }}
    group by operator, service_date, listed_id, trip_id, line_code, direction
),

told as (
    select
        trips.*,
        told.departure_at,
        row_number() over (
            partition by trips.operator, trips.service_date, trips.listed_id order by trips.began_at, trips.trip_id
        ) as nth_trip
    from trips
    left join {{ ref('told_departures') }} as told
        on
            trips.operator = told.operator
            and trips.service_date = told.service_date
            and trips.trip_id = told.trip_id
            and trips.line_code = told.line_code
            and trips.direction = told.direction
            and {{ is_built('told.service_date') }}
    where trips.nth_line = 1
)

select
    firsts.operator,
    firsts.service_date,
    firsts.trip_id,
    firsts.line_code,
    firsts.direction,
    firsts.departure_at,
    nexts.trip_id as next_trip_id,
    nexts.line_code as next_line_code,
    nexts.direction as next_direction,
    nexts.departure_at as next_departure_at,
    {{ seconds_between('firsts.departure_at', 'nexts.departure_at') }} as turn_seconds
from told as firsts
inner join told as nexts
    on
        firsts.operator = nexts.operator
        and firsts.service_date = nexts.service_date
        and firsts.listed_id = nexts.listed_id
        and firsts.nth_trip + 1 = nexts.nth_trip
