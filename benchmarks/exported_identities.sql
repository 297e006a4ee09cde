-- Contradictions between exported feeds and the published file, which no validator can see. Each query returns what
-- contradicts, and should return nothing. `static` and `ran` hold the files of the two GTFS feeds, `tides` those of
-- the package, `alerts` the alerts; `published` is the file.

-- static: the trips of a date are the departures in force, by line, direction and time of departure
with departures as (
    select service_date, line_code, direction, service_seconds, count(*) as n_departures
    from published.core.scheduled_departures
    where is_in_force and service_date between (select min(service_date) from static.dates)
        and (select max(service_date) from static.dates)
    group by all
),

trips as (
    select service_date, route_id as line_code, direction, seconds as service_seconds, count(*) as n_trips
    from static.dates
    inner join static.trips using (service_id)
    inner join static.calls using (trip_id)
    where nth = 1
    group by all
)

select * from departures full join trips using (service_date, line_code, direction, service_seconds)
where n_departures is distinct from n_trips;

-- static: the stops of a trip are those of a leg of its line and direction, in order, of rare ones as many as it calls at
with legs as (
    select distinct line_code as route_id, direction, stops, usual_stops
    from (
        select
            line_code, direction, leg, service_date, list(stop_code order by position) as stops,
            coalesce(list(stop_code order by position) filter (where not is_rare), []) as usual_stops
        from published.intermediate.leg_stops group by all
    )
)

select trip_id, route_id, direction
from static.trips as trips
inner join (select trip_id, list(stop_id order by nth) as stops from static.calls group by trip_id) as calls using (trip_id)
anti join legs
    on trips.route_id = legs.route_id and trips.direction = legs.direction
    and list_has_all(calls.stops, legs.usual_stops)
    and list_filter(legs.stops, lambda stop: list_contains(calls.stops, stop)) = calls.stops;

-- static: the times never go back
select * from static.calls where seconds < seconds_before;

-- static: each trip has the id of a departure, and its stops the numbers that the line gives them
select calls.*
from static.calls as calls
inner join static.trips using (trip_id)
left join (select distinct trip_id_scheduled, line_code, direction from published.core.scheduled_departures) as departures
    on calls.trip_id = departures.trip_id_scheduled and trips.route_id = departures.line_code
left join (select distinct line_code, direction, stop_code, stop_sequence from published.core.line_stops) as stops
    on trips.route_id = stops.line_code and trips.direction = stops.direction
    and calls.stop_id = stops.stop_code and calls.stop_sequence = stops.stop_sequence
where departures.trip_id_scheduled is null or stops.stop_code is null;

-- ran: the times never go back
select * from ran.calls where seconds < seconds_before;

-- ran: each trip is one of the warehouse, of a departure that ran, on its date
select trips.*, found.outcome
from ran.trips as trips
inner join ran.dates using (service_id)
left join published.core.trips as found
    on trips.trip_id = found.trip_id_performed and dates.service_date = found.service_date
where found.trip_key is null or found.outcome in ('not_run', 'withdrawn')
    or trips.route_id != found.line_code or trips.direction is distinct from found.direction;

-- ran: each trip of a date that was observed at two positions or more is in the feed, and no other
with observed as (
    select trip_id_performed as trip_id
    from published.core.stop_visits
    inner join published.core.trips using (trip_key, trip_id, service_date)
    where arrival_quality in ('evidenced', 'bounded') and not is_out_of_order and position is not null
        and trips.line_code is not null
        and service_date between (select min(service_date) from ran.dates) and (select max(service_date) from ran.dates)
    group by all
    having count(*) > 1
)

select * from observed full join ran.trips using (trip_id) where observed.trip_id is null or trips.trip_id is null;

-- ran: each time is that of a passage of the trip at the stop, or that of the stop before
with passages as (
    select trip_key, stop_code, stop_sequence, passed_at, arrival_quality
    from published.core.stop_visits where passed_at is not null
    union all
    select trip_key, stop_code, stop_sequence, passed_at, arrival_quality from published.core.trip_trajectories
    where trip_key is not null
),

expected as (
    select trips.trip_id_performed as trip_id, passages.stop_code as stop_id, passages.stop_sequence,
        list(cast(epoch(passages.passed_at - days.zero_at) as bigint)) as seconds,
        bool_or(arrival_quality = 'evidenced') as is_evidenced
    from passages
    inner join published.core.trips as trips using (trip_key)
    inner join published.core.service_days as days using (operator, service_date)
    group by all
)

select calls.*
from ran.calls as calls
left join expected using (trip_id, stop_id, stop_sequence)
where (not coalesce(list_contains(expected.seconds, calls.seconds), false) and calls.seconds is distinct from seconds_before)
    or (calls.timepoint = '1' and not expected.is_evidenced);

-- tides: the visits are those of the trips of the warehouse that were seen, with the times that were observed
select visits.visit_key, evidence.visit_key as found_key
from (
    select visits.*, trips.trip_id_performed,
        case when arrival_quality in ('evidenced', 'bounded') then passed_at end as observed_at
    from published.core.stop_visits as visits
    inner join published.core.trips as trips using (trip_key)
    where trips.n_live > 0
) as visits
full join tides.stop_visit_evidence as evidence on visits.visit_key = evidence.visit_key
left join tides.stop_visits as found
    on evidence.service_date = found.service_date and evidence.trip_id_performed = found.trip_id_performed
    and evidence.trip_stop_sequence = found.trip_stop_sequence
where coalesce(visits.service_date, evidence.service_date)
    between (select min(service_date) from tides.stop_visits) and (select max(service_date) from tides.stop_visits)
    and (
        visits.visit_key is null or found.trip_id_performed is null
        or visits.trip_id_performed != found.trip_id_performed or visits.service_date != found.service_date
        or visits.stop_code != found.stop_id or visits.stop_sequence is distinct from found.scheduled_stop_sequence
        or visits.observed_at is distinct from found.actual_arrival_time
        or visits.scheduled_at is distinct from found.schedule_arrival_time
    );

-- tides: the trips performed are those of the warehouse that were seen, and those that did not run, canceled
select service_date, trip_id_performed
from (select * from published.core.trips where n_live > 0 or outcome = 'not_run') as trips
full join tides.trips_performed as found using (service_date, trip_id_performed)
where service_date between (select min(service_date) from tides.trips_performed)
    and (select max(service_date) from tides.trips_performed)
    and (trips.trip_key is null or found.vehicle_id is null or trips.line_code is distinct from found.route_id
    or trips.scheduled_departure_at is distinct from found.schedule_trip_start
    or (trips.outcome = 'not_run') is distinct from (coalesce(found.schedule_relationship, '') = 'Canceled'));

-- tides: each visit is of a trip performed, and the visits of a trip are numbered from 1
select service_date, trip_id_performed, count(*) as n_visits, max(trip_stop_sequence) as last_number
from tides.stop_visits
left join tides.trips_performed as trips using (service_date, trip_id_performed)
group by service_date, trip_id_performed
having count(trips.vehicle_id) < count(*) or min(trip_stop_sequence) != 1 or max(trip_stop_sequence) != count(*);

-- tides: the position in the timetable does not go back along a trip
select service_date, trip_id_performed, trip_stop_sequence
from tides.stop_visits
qualify scheduled_stop_sequence < max(scheduled_stop_sequence) over (
    partition by service_date, trip_id_performed order by trip_stop_sequence
    rows between unbounded preceding and 1 preceding
);

-- tides: the estimates are those of all passages due
select departure_key, stop_sequence, found.trip_id_scheduled
from published.core.trip_trajectories
full join (select *, scheduled_stop_sequence as stop_sequence from tides.passage_estimates) as found
    using (departure_key, stop_sequence)
where coalesce(trip_trajectories.service_date, found.service_date)
    between (select min(service_date) from tides.passage_estimates)
    and (select max(service_date) from tides.passage_estimates)
    and (trip_trajectories.departure_key is null or found.departure_key is null);

-- tides: a scheduled trip is a trip of the timetable on that date
select service_date, trip_id_scheduled
from (
    select service_date, trip_id_scheduled from tides.trips_performed where trip_id_scheduled is not null
    union
    select service_date, trip_id_scheduled from tides.passage_estimates
)
anti join (
    select service_date, trip_id as trip_id_scheduled from static.dates inner join static.trips using (service_id)
) using (service_date, trip_id_scheduled);

-- alerts: there is one for each event, with its time
select episode_id, alerts.id, begun_before, ended_before, active_from, active_to
from published.marts.disruptions full join alerts on episode_id = alerts.id
where episode_id is null or alerts.id is null
    or date_trunc('second', begun_before) != active_from
    or (date_trunc('second', ended_before) is distinct from active_to and ended_before >= begun_before);

-- alerts: each informs the routes with a number of its lines, or the agency
with routes as (
    select episode_id, list(distinct line_code order by line_code) as routes
    from published.core.status_episode_lines
    where line_code is not null
    group by episode_id
)

select alerts.*, routes.routes as expected
from alerts left join routes on episode_id = alerts.id
where coalesce(routes.routes, []) is distinct from alerts.routes
