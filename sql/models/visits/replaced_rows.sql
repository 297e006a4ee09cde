-- One row per operator, service_date, listed id, stop and visit that replaced an anonymous row before its trip was live
-- at other stops: the time of that row, and whether it announced the trip.
-- A single row may have been another bus's: most rows that a trip replaced have to agree on when it was to start. And a
-- bus that was minutes ahead of these rows was another one: an added bus replaces the rows of the next scheduled one.
with visits as (
    select
        trips.listed_visit_key,
        {{ hashed_key(['trips.operator', 'trips.service_date', 'trips.trip_id']) }} as trip_key,
        trips.service_date,
        trips.expected_at,
        trips.estimated_start_at,
        evidence.replaced_at,
        evidence.replaced_seen_at,
        evidence.first_live_at
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
        visits.listed_visit_key,
        visits.trip_key,
        visits.service_date,
        visits.replaced_at,
        {{ add_seconds('visits.estimated_start_at', seconds_between('visits.expected_at', 'visits.replaced_at')) }}
            as announced_start_at,
        {{ seconds_between('visits.expected_at', 'visits.replaced_at') }} as ahead_seconds
    from visits
    inner join trips
        on visits.trip_key = trips.trip_key and visits.replaced_seen_at <= trips.live_from
    where visits.replaced_at is not null and visits.estimated_start_at is not null
),

announced_starts as (
    select
        trip_key,
        median(announced_start_at) as announced_start_at,
        median(ahead_seconds) as ahead_seconds
    from replaced
    group by trip_key
),

compared as (
    select
        replaced.*,
        abs({{ seconds_between('starts.announced_start_at', 'replaced.announced_start_at') }})
        <= parameters.match_theoretical_seconds as is_agreeing,
        starts.ahead_seconds <= parameters.match_early_seconds as is_possible,
        parameters.replaced_min_rows,
        parameters.replaced_share
    from replaced
    cross join {{ ref('inference_parameters') }} as parameters
    inner join announced_starts as starts using (trip_key)
),

counted as (
    select
        *,
        count(*) over (partition by trip_key) as n_rows,
        count(case when is_agreeing then 1 end) over (partition by trip_key) as n_agreeing
    from compared
)

select
    listed_visit_key,
    service_date,
    replaced_at,
    is_possible
    and is_agreeing
    and n_agreeing >= replaced_min_rows
    and n_agreeing >= replaced_share * n_rows as is_announced
from counted
