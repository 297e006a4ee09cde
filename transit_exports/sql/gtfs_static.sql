-- The departures of the timetable as trips of GTFS: a trip for each departure that is the same on several dates, with
-- the stops of its leg and the running times as they were known on the last of these dates, or before.
create or replace temp table feed_trips as
with departures as (
    select distinct
        service_date,
        line_code,
        direction,
        leg,
        headsign,
        service_seconds,
        trip_id_scheduled as trip_id
    from core.scheduled_departures
    where operator = $operator and is_in_force and $condition
),

trips as (
    select
        trip_id,
        line_code,
        direction,
        leg,
        service_seconds,
        max(service_date) as last_date,
        arg_max(headsign, service_date) as trip_headsign,
        list(service_date order by service_date) as service_dates
    from departures
    group by trip_id, line_code, direction, leg, service_seconds
),

legs as (
    select
        service_date as leg_date,
        line_code,
        direction,
        leg
    from intermediate.leg_stops
    where operator = $operator
    group by service_date, line_code, direction, leg
    having count(*) > 1
)

select
    trips.trip_id,
    trips.line_code as route_id,
    md5(array_to_string(trips.service_dates, ' '))[:12] as service_id,
    trips.trip_headsign,
    trips.direction,
    trips.leg,
    trips.service_seconds,
    legs.leg_date,
    trips.service_dates
from trips
asof inner join legs
    on
        trips.line_code = legs.line_code
        and trips.direction = legs.direction
        and trips.leg = legs.leg
        and trips.last_date >= legs.leg_date;

-- One row per departure and position of the legs of those dates: how long after the departure it is known to be there.
-- The row of a leg without a departure serves where none of its departures may have run.
create or replace temp table feed_calls as
with legs as (
    select distinct
        leg_date as service_date,
        route_id as line_code,
        direction,
        leg
    from feed_trips
),

calls as (
    select
        calls.departure_key,
        calls.departure_seconds,
        calls.service_date,
        calls.line_code,
        calls.direction,
        calls.leg,
        calls.position,
        calls.stop_code,
        times.travel_seconds,
        case when calls.schedule_source != 'running_time' then calls.scheduled_seconds - calls.departure_seconds end
            as known_seconds
    from intermediate.scheduled_calls as calls
    inner join legs using (service_date, line_code, direction, leg)
    left join intermediate.line_travel_times as times using (operator, service_date, line_code, direction, position)
    where calls.operator = $operator
    union all
    select
        null as departure_key,
        null as departure_seconds,
        stops.service_date,
        stops.line_code,
        stops.direction,
        stops.leg,
        stops.position,
        stops.stop_code,
        times.travel_seconds,
        null as known_seconds
    from intermediate.leg_stops as stops
    inner join legs using (service_date, line_code, direction, leg)
    left join intermediate.line_travel_times as times using (operator, service_date, line_code, direction, position)
    where stops.operator = $operator and not stops.is_rare
),

-- a time that is not between those of the stops before and after is not used
consistent as (
    select
        *,
        case
            when position = min(position) over departure then 0
            when
                known_seconds > coalesce(max(known_seconds) over before, 0)
                and coalesce(known_seconds < min(known_seconds) over after, true)
                then known_seconds
        end as seconds
    from calls
    window
        departure as (partition by service_date, line_code, direction, leg, departure_key),
        before as (departure order by position rows between unbounded preceding and 1 preceding),
        after as (departure order by position rows between 1 following and unbounded following)
),

neighbours as (
    select
        *,
        last_value(seconds ignore nulls) over before as seconds_before,
        last_value(case when seconds is not null then travel_seconds end ignore nulls) over before as travel_before,
        first_value(seconds ignore nulls) over after as seconds_after,
        first_value(case when seconds is not null then travel_seconds end ignore nulls) over after as travel_after
    from consistent
    window
        departure as (partition by service_date, line_code, direction, leg, departure_key),
        before as (departure order by position rows between unbounded preceding and current row),
        after as (departure order by position rows between current row and unbounded following)
)

select
    departure_key,
    departure_seconds,
    service_date,
    line_code,
    direction,
    leg,
    position,
    stop_code,
    position = min(position) over departure as is_origin,
    -- running times are learned stop by stop and may contradict each other: a stop is not earlier than the one before
    max(cast(round(least(
        case
            when seconds is not null then seconds
            when travel_after > travel_before
                then
                    seconds_before
                    + (seconds_after - seconds_before) * (travel_seconds - travel_before) / (travel_after - travel_before)
            else seconds_before + travel_seconds - travel_before
        end,
        seconds_after
    )) as bigint)) over (departure order by position rows between unbounded preceding and current row) as seconds
from neighbours
window departure as (partition by service_date, line_code, direction, leg, departure_key);

create or replace temp view feed_stop_times as
with departures as (
    select distinct
        departure_key,
        departure_seconds,
        service_date,
        line_code,
        direction,
        leg
    from feed_calls
),

-- a trip has the times of its own departure, or of the one nearest to it in time
nearest as (
    select
        trips.trip_id,
        trips.service_seconds,
        departures.*
    from feed_trips as trips
    inner join departures
        on
            trips.leg_date = departures.service_date
            and trips.route_id = departures.line_code
            and trips.direction = departures.direction
            and trips.leg = departures.leg
    qualify
        row_number() over (
            partition by trips.trip_id
            order by
                abs(departures.departure_seconds - trips.service_seconds) nulls last,
                departures.departure_seconds,
                departures.departure_key
        ) = 1
)

select
    nearest.trip_id,
    gtfs_time(nearest.service_seconds + calls.seconds) as arrival_time,
    gtfs_time(nearest.service_seconds + calls.seconds) as departure_time,
    calls.stop_code as stop_id,
    stops.stop_sequence,
    -- only the departure is in the timetable; the other times are learned
    case when calls.is_origin then 1 else 0 end as timepoint
from nearest
inner join feed_calls as calls
    on
        nearest.service_date = calls.service_date
        and nearest.line_code = calls.line_code
        and nearest.direction = calls.direction
        and nearest.leg = calls.leg
        and nearest.departure_key is not distinct from calls.departure_key
inner join intermediate.leg_stops as stops
    on
        stops.operator = $operator
        and calls.service_date = stops.service_date
        and calls.line_code = stops.line_code
        and calls.direction = stops.direction
        and calls.leg = stops.leg
        and calls.position = stops.position
