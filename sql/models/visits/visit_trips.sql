-- One row per operator, service_date, listed id, stop and visit: the trip it belongs to, its position on the way, and
-- the timetable time of the anonymous row that announced it.
-- Visits of one listed id belong to one trip when, less the travel time to each stop, they started together. That
-- separates the trips of a vehicle, the trips that share a number, and the two times that a loop comes to a stop. Where
-- timetable rows have the id too, they tell how often it runs, and a bus that runs under it may be early or late.
{%- set way = "operator, service_date, listed_id, line_code, direction" %}
{%- set trip = "operator, service_date, trip_id" %}
{%- set start_gap_seconds = "seconds_between(before.start_at, segments.start_at)" %}
{%- set later_gap_seconds = "seconds_between(before.last_at, segments.first_at)" %}
{%- set earlier_gap_seconds = "seconds_between(segments.last_at, before.first_at)" %}
with segment_facts as (
    select
        {{ way }},
        segment,
        count(*) as n_visits,
        min(position) as first_position,
        max(position) as last_position,
        array_sort(collect_set(position)) as positions,
        count(theoretical_at) as n_announced,
        sum(count(theoretical_at)) over (partition by {{ way }}) as n_id_announced,
        max(restart_seconds) as restart_seconds,
        min(estimated_start_at) as start_at,
        min(expected_at) as first_at,
        max(expected_at) as last_at
    from {{ ref('visit_positions') }}
    where segment is not null
    group by {{ way }}, segment
),

continuations as (
    -- four kinds of segment belong to the trip of the segment before: a single visit to the stop where the trip began,
    -- which ends a loop that the stop list does not close; where timetable rows have the id, other stops at about that
    -- time, if the rows announced only one of the two, or in whatever order the leg serves its stops; stops further on,
    -- reached too soon after for the vehicle to have started again; and the stops from which it came so soon, on a leg
    -- that leaves out stops between
    select
        segments.*,
        segments.n_visits = 1
        and before.n_visits > 1
        and (
            segments.first_position <= before.first_position
            or (
                segments.n_announced = 0
                and before.n_announced > 0
                and arrays_overlap(segments.positions, before.positions)
            )
        )
        and {{ later_gap_seconds }} between -parameters.upward_jump_seconds and parameters.trip_gap_seconds
            as is_loop_end,
        (
            segments.n_id_announced > 0
            and segments.listed_id not like '@%'
            and not arrays_overlap(segments.positions, before.positions)
            and greatest({{ later_gap_seconds }}, {{ earlier_gap_seconds }}) <= parameters.latest_bus_seconds
            and (
                least(segments.n_announced, before.n_announced) = 0
                or {{ start_gap_seconds }} < segments.restart_seconds
            )
        )
        or (
            {{ start_gap_seconds }} < segments.restart_seconds
            and (
                (
                    segments.first_position > before.last_position
                    and {{ later_gap_seconds }} between 0 and parameters.trip_gap_seconds
                )
                or (
                    segments.last_position < before.first_position
                    and {{ earlier_gap_seconds }} between 1 and parameters.trip_gap_seconds
                )
            )
        ) as is_part
    from segment_facts as segments
    cross join {{ ref('inference_parameters') }} as parameters
    left join (select * {{ exclude("segment") }}, segment + 1 as segment from segment_facts) as before
        using ({{ way }}, segment)
),

trip_segments as (
    select
        *,
        max(case when not coalesce(is_loop_end or is_part, false) then segment end) over (
            partition by {{ way }} order by segment rows between unbounded preceding and current row
        ) as first_segment
    from continuations
),

trips as (
    select
        *,
        row_number() over (
            partition by operator, service_date, listed_id
            order by start_at, line_code nulls last, direction nulls last, segment
        ) as trip_number,
        count(*) over (partition by operator, service_date, listed_id) as n_trips
    from trip_segments
    where segment = first_segment
),

placed as (
    select
        visits.*,
        trip_segments.is_loop_end,
        trips.trip_number,
        listed_id || case when trips.n_trips > 1 then '~' || cast(trips.trip_number as string) else '' end as trip_id
    from {{ ref('visit_positions') }} as visits
    inner join trip_segments using ({{ way }}, segment)
    inner join trips using ({{ way }}, first_segment)
),

visits_nearby as (
    -- a visit of no clear line goes with the visit of its id that is nearest in time
    select
        visits.listed_visit_key,
        placed.trip_number,
        placed.trip_id,
        abs(seconds_between(placed.expected_at, visits.expected_at)) as off_seconds
    from {{ ref('visit_positions') }} as visits
    inner join placed using (operator, service_date, listed_id)
    where visits.line_code is null
),

trip_visits as (
    select
        visits.* {{ exclude("position, stop_sequence, restart_seconds, estimated_start_at, segment") }},
        coalesce(placed.trip_id, nearest.trip_id, visits.listed_id) as trip_id,
        -- the stop list has no position for the end of a loop that it does not close
        case when placed.is_loop_end is not true then placed.position end as position,
        case when placed.is_loop_end is not true then placed.stop_sequence end as stop_sequence,
        case when placed.is_loop_end is not true then placed.estimated_start_at end as estimated_start_at
    from {{ ref('visit_positions') }} as visits
    left join placed using (listed_visit_key)
    left join {{ first_rows('visits_nearby', ['listed_visit_key'], 'off_seconds, trip_number') }} as nearest
        using (listed_visit_key)
),

live_trips as (
    select
        {{ trip }},
        {{ trip_live_from() }} as live_from
    from trip_visits
    where line_code is not null
    group by {{ trip }}
),

replaced_rows as (
    -- when a trip was to start, by each anonymous row it replaced; a row still listed when the bus was live at other
    -- stops was replaced by another bus, which the list had no room for
    select
        *,
        seconds_between(expected_at, replaced_at) as ahead_seconds,
        add_seconds(estimated_start_at, ahead_seconds) as announced_start_at
    from trip_visits
    inner join live_trips using ({{ trip }})
    where replaced_seen_at <= live_from and estimated_start_at is not null
),

compared as (
    select
        *,
        abs(seconds_between({{ median_instant('announced_start_at', 'over trip') }}, announced_start_at))
        <= parameters.match_theoretical_seconds as is_agreeing,
        median(ahead_seconds) over trip <= parameters.match_early_seconds as is_possible
    from replaced_rows
    cross join {{ ref('inference_parameters') }} as parameters
    window trip as (partition by {{ trip }})
),

announced as (
    -- a single row may have been another bus's: most rows that a trip replaced have to agree on when it was to start.
    -- And a bus that was minutes ahead of these rows was another one: an added bus replaces the rows of the next
    -- scheduled one
    select
        *,
        is_possible
        and is_agreeing
        and count(case when is_agreeing then 1 end) over trip
        >= greatest(fewest_agreeing, replaced_share * count(*) over trip) as is_announced
    from compared
    window trip as (partition by {{ trip }})
)

select
    key_of(concat_ws('|', visits.operator, visits.service_date, visits.trip_id)) as trip_key,
    visits.* {{ exclude("theoretical_at, replaced_at, replaced_seen_at") }},
    coalesce(visits.theoretical_at, case when announced.is_announced then announced.replaced_at end) as theoretical_at,
    announced.replaced_at,
    visits.listed_id like '@%' as is_anonymous
from trip_visits as visits
left join announced using (listed_visit_key)
left join announced as buses
    on
        buses.is_announced
        and visits.listed_id like '@%'
        and visits.operator = buses.operator
        and visits.service_date = buses.service_date
        and visits.stop_code = buses.stop_code
        and visits.line_code = buses.line_code
        and visits.direction = buses.direction
        and visits.theoretical_at = buses.replaced_at
-- an anonymous row that announced a bus is listed as a visit of the bus
where buses.listed_visit_key is null
