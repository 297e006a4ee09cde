-- The departures of the timetable as trips of GTFS: a trip for each departure that is the same on several dates, with
-- the stops of its leg as they were known last, and running times learned up to then.
create or replace temp table feed_departures as
select distinct
    service_date,
    line_code,
    direction,
    leg,
    headsign,
    service_hour,
    service_seconds,
    scheduled_trip_id(line_code, direction, service_code, leg, service_seconds, duplicate_number) as trip_id
from core.scheduled_departures
where operator = $operator and is_in_force and $condition;

create or replace temp table feed_patterns as
with legs as (
    select
        line_code,
        direction,
        leg,
        max(service_date) as service_date
    from intermediate.leg_stops
    where operator = $operator and $condition
    group by line_code, direction, leg
),

hours as (
    select distinct
        line_code,
        direction,
        leg,
        service_hour
    from feed_departures
),

calls as (
    select
        hours.service_hour,
        stops.line_code,
        stops.direction,
        stops.leg,
        stops.position,
        stops.stop_code,
        case
            when stops.position = min(stops.position) over leg_hour then 0
            else coalesce(
                of_hour.offset_seconds,
                of_day.offset_seconds,
                travel.travel_seconds - min(travel.travel_seconds) over leg_hour
            )
        end as known_seconds
    from legs
    inner join hours using (line_code, direction, leg)
    inner join intermediate.leg_stops as stops using (service_date, line_code, direction, leg)
    left join intermediate.running_times as of_hour
        on
            stops.operator = of_hour.operator
            and stops.service_date = of_hour.service_date
            and stops.line_code = of_hour.line_code
            and stops.direction = of_hour.direction
            and stops.leg = of_hour.leg
            and stops.position = of_hour.position
            and hours.service_hour = of_hour.service_hour
    left join intermediate.running_times as of_day
        on
            stops.operator = of_day.operator
            and stops.service_date = of_day.service_date
            and stops.line_code = of_day.line_code
            and stops.direction = of_day.direction
            and stops.leg = of_day.leg
            and stops.position = of_day.position
            and of_day.service_hour is null
    left join intermediate.line_travel_times as travel
        on
            stops.operator = travel.operator
            and stops.service_date = travel.service_date
            and stops.line_code = travel.line_code
            and stops.direction = travel.direction
            and stops.position = travel.position
    where stops.operator = $operator
    window leg_hour as (partition by stops.line_code, stops.direction, stops.leg, hours.service_hour)
),

neighbours as (
    select
        *,
        last_value(case when known_seconds is not null then position end ignore nulls) over before as position_before,
        last_value(known_seconds ignore nulls) over before as seconds_before,
        first_value(case when known_seconds is not null then position end ignore nulls) over after as position_after,
        first_value(known_seconds ignore nulls) over after as seconds_after
    from calls
    window
        before as (
            partition by line_code, direction, leg, service_hour order by position
            rows between unbounded preceding and current row
        ),
        after as (
            partition by line_code, direction, leg, service_hour order by position
            rows between current row and unbounded following
        )
),

filled as (
    select
        *,
        case
            when position_after = position_before then known_seconds
            when position_after is null
                then seconds_before + (position - position_before) * parameters.usual_step_seconds
            else
                seconds_before
                + (seconds_after - seconds_before) * (position - position_before) / (position_after - position_before)
        end as seconds
    from neighbours
    cross join intermediate.inference_parameters as parameters
)

-- a bus cannot pass a stop before the one before it
select
    line_code,
    direction,
    leg,
    service_hour,
    position,
    stop_code,
    known_seconds is not null as is_learned,
    cast(round(max(seconds) over (
        partition by line_code, direction, leg, service_hour order by position
        rows between unbounded preceding and current row
    )) as bigint) as seconds,
    count(*) over (partition by line_code, direction, leg, service_hour) as n_stops
from filled;

create or replace temp table feed_trips as
select
    departures.trip_id,
    departures.line_code as route_id,
    md5(array_to_string(list(departures.service_date order by departures.service_date), ' '))[:12] as service_id,
    any_value(departures.headsign) as trip_headsign,
    departures.direction,
    departures.leg,
    departures.service_hour,
    departures.service_seconds,
    list(departures.service_date order by departures.service_date) as service_dates
from feed_departures as departures
where (departures.line_code, departures.direction, departures.leg, departures.service_hour) in (
    select (line_code, direction, leg, service_hour) from feed_patterns where n_stops > 1
)
group by
    departures.trip_id, departures.line_code, departures.direction, departures.leg, departures.service_hour,
    departures.service_seconds;

create or replace temp view feed_stop_times as
select
    trips.trip_id,
    gtfs_time(trips.service_seconds + patterns.seconds) as arrival_time,
    gtfs_time(trips.service_seconds + patterns.seconds) as departure_time,
    patterns.stop_code as stop_id,
    patterns.position as stop_sequence,
    -- only the departure is in the timetable; the other times are learned
    case when patterns.seconds = 0 and patterns.position = 1 then 1 else 0 end as timepoint
from feed_trips as trips
inner join feed_patterns as patterns
    on
        trips.route_id = patterns.line_code
        and trips.direction = patterns.direction
        and trips.leg = patterns.leg
        and trips.service_hour = patterns.service_hour
