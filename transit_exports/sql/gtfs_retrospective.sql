-- The trips that ran, each on its date, with the times at which they were observed to pass; and at stops between two
-- where they were seen, with estimates that lie between those times. A trip that was seen at one stop only is left out:
-- GTFS has no such trip.
create or replace temp view feed_passages as
with known as (
    select
        operator,
        service_date,
        trip_key,
        stop_code,
        arrival_quality,
        position,
        stop_sequence,
        passed_at,
        visit_key
    from core.trip_trajectories
    where trip_key is not null and arrival_quality in ('evidenced', 'bounded', 'interpolated')
),

passages as (
    select * from known
    union all
    select
        visits.operator,
        visits.service_date,
        visits.trip_key,
        visits.stop_code,
        visits.arrival_quality,
        visits.position,
        visits.stop_sequence,
        visits.passed_at,
        visits.visit_key
    from core.stop_visits as visits
    left join known using (trip_key, position)
    where
        visits.passed_at is not null
        and visits.position is not null
        and not visits.is_out_of_order
        and known.trip_key is null
    -- of a stop that the trip is said to have passed twice, the first time
    qualify row_number() over (partition by trip_key, position order by visits.passed_at, visits.visit_key) = 1
),

observed as (
    select
        passages.*,
        passages.arrival_quality in ('evidenced', 'bounded') as is_observed,
        cast(epoch(passages.passed_at - days.zero_at) as bigint) as seconds
    from passages
    inner join core.service_days as days using (operator, service_date)
    where operator = $operator and $condition
)

select * exclude (operator, service_date, is_observed)
from observed
window
    before as (partition by trip_key order by position rows between unbounded preceding and 1 preceding),
    after as (partition by trip_key order by position rows between 1 following and unbounded following)
qualify
    is_observed
    or seconds between max(case when is_observed then seconds end) over before
    and min(case when is_observed then seconds end) over after;

create or replace temp table feed_trips as
select
    trips.trip_key,
    trips.trip_id_performed as trip_id,
    trips.line_code as route_id,
    strftime(trips.service_date, '%Y%m%d') as service_id,
    coalesce(departures.headsign, destinations.destination) as trip_headsign,
    trips.direction,
    [trips.service_date] as service_dates
from core.trips as trips
left join (
    select
        matched_trip_key as trip_key,
        min(headsign) as headsign
    from core.scheduled_departures
    where is_in_force and matched_trip_key is not null and $condition
    group by matched_trip_key
) as departures using (trip_key)
left join (
    -- of a trip without a departure, what most of its stops showed
    select
        trip_key,
        mode(destination order by destination) as destination
    from core.stop_visits
    where $condition
    group by trip_key
) as destinations using (trip_key)
where
    trips.operator = $operator
    and $condition
    and trips.line_code is not null
    and trips.trip_key in (select trip_key from feed_passages group by trip_key having count(*) > 1);

create or replace temp view feed_stop_times as
with ordered as (
    select
        trips.trip_id,
        passages.stop_code,
        passages.arrival_quality,
        passages.stop_sequence,
        max(passages.seconds) over (
            partition by trips.trip_id
            order by passages.position rows between unbounded preceding and current row
        ) as seconds
    from feed_trips as trips
    inner join feed_passages as passages using (trip_key)
)

select
    trip_id,
    gtfs_time(greatest(seconds, 0)) as arrival_time,
    gtfs_time(greatest(seconds, 0)) as departure_time,
    stop_code as stop_id,
    stop_sequence,
    case when arrival_quality = 'evidenced' then 1 else 0 end as timepoint
from ordered
