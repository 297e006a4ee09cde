-- One row per departure that a trip ran as, and position of its line where the trip was listed: the visit.
-- With how long after the departure the timetable says it is due. Where it was listed at a position several times, the
-- visit is the first that was listed live.
select
    departure_key,
    trip_id_scheduled,
    operator,
    service_date,
    line_code,
    direction,
    position,
    visit_key,
    schedule_source,
    own_seconds
from (
    select
        departures.departure_key,
        departures.trip_id_scheduled,
        calls.operator,
        calls.service_date,
        calls.line_code,
        calls.direction,
        calls.position,
        calls.visit_key,
        {{ listed_source('calls') }} as schedule_source,
        {{ seconds_between('departures.departure_at', 'calls.timetable_at') }} as own_seconds,
        row_number() over (
            partition by calls.trip_key, calls.line_code, calls.direction, calls.position
            order by case when calls.n_polls > 0 then 0 else 1 end, calls.visit_number, calls.stop_code
        ) as nth
    from {{ built('departure_matches') }} as matches
    inner join {{ built('timetable_departures') }} as departures using (departure_key)
    inner join {{ built('trip_calls') }} as calls
        on
            matches.trip_key = calls.trip_key
            and matches.line_code = calls.line_code
            and matches.direction = calls.direction
    where calls.position is not null
) as numbered
where nth = 1
