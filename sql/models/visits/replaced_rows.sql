-- One row per operator, service_date, listed id, stop and visit that replaced an anonymous row before its trip was live
-- at other stops: the time of that row, and whether it announced the trip.
-- A single row may have been another bus's: most rows that a trip replaced have to agree on when it was to start. And a
-- bus that was minutes ahead of these rows was another one: an added bus replaces the rows of the next scheduled one.
with visits as (
    select
        evidence.*,
        {{ hashed_key(['trips.operator', 'trips.service_date', 'trips.trip_id']) }} as trip_key,
        trips.estimated_start_at,
        {{ seconds_between('trips.expected_at', 'evidence.replaced_at') }} as ahead_seconds
    from {{ built('visit_trips') }} as trips
    inner join {{ built('visit_evidence') }} as evidence using (listed_visit_key)
    where trips.line_code is not null
),

trips as (
    select
        trip_key,
        {{ trip_live_from() }} as live_from
    from visits
    group by trip_key
),

replaced as (
    -- when a trip was to start, by each anonymous row it replaced; a row still listed when the bus was live at other
    -- stops was replaced by another bus, which the list had no room for
    select
        visits.*,
        {{ add_seconds('visits.estimated_start_at', 'visits.ahead_seconds') }} as announced_start_at
    from visits
    inner join trips using (trip_key)
    where
        visits.replaced_at is not null
        and visits.replaced_seen_at <= trips.live_from
        and visits.estimated_start_at is not null
),

compared as (
    select
        *,
        abs({{ seconds_between('median(announced_start_at) over trip', 'announced_start_at') }})
        <= parameters.match_theoretical_seconds as is_agreeing,
        median(ahead_seconds) over trip <= parameters.match_early_seconds as is_possible
    from replaced
    cross join {{ ref('inference_parameters') }} as parameters
    window trip as (partition by trip_key)
)

select
    listed_visit_key,
    service_date,
    replaced_at,
    is_possible
    and is_agreeing
    and count(case when is_agreeing then 1 end) over trip
    >= greatest(replaced_min_rows, replaced_share * count(*) over trip) as is_announced
from compared
window trip as (partition by trip_key)
