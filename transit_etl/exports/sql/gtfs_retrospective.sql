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
        passed_at,
        coalesce(visit_key, departure_key) as passage_key
    from core.trip_trajectories
    where trip_key is not null and arrival_quality in ('evidenced', 'bounded', 'interpolated')
),

passages as (
    select * from known
    union all
    select
        operator,
        service_date,
        trip_key,
        stop_code,
        arrival_quality,
        position,
        passed_at,
        visit_key as passage_key
    from core.stop_visits
    where
        passed_at is not null
        and position is not null
        and not is_out_of_order
        and visit_key not in (select passage_key from known)
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
    concat_ws('_', strftime(trips.service_date, '%Y%m%d'), trips.trip_id) as trip_id,
    trips.line_code as route_id,
    strftime(trips.service_date, '%Y%m%d') as service_id,
    null as trip_headsign,
    trips.direction,
    [trips.service_date] as service_dates
from core.trips as trips
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
        row_number() over trip as stop_sequence,
        max(passages.seconds) over (trip rows between unbounded preceding and current row) as seconds
    from feed_trips as trips
    inner join feed_passages as passages using (trip_key)
    window trip as (partition by trips.trip_id order by passages.position, passages.passed_at, passages.passage_key)
)

select
    trip_id,
    gtfs_time(greatest(seconds, 0)) as arrival_time,
    gtfs_time(greatest(seconds, 0)) as departure_time,
    stop_code as stop_id,
    stop_sequence,
    case when arrival_quality = 'evidenced' then 1 else 0 end as timepoint
from ordered
