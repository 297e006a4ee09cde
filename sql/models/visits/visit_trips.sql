-- One row per operator, service_date, listed id, stop and visit: the trip it belongs to, and its position on the way.
-- Visits of one listed id belong to one trip when, less the travel time to each stop, they started together. That
-- separates the trips of a vehicle, the trips that share a number, and the two times that a loop comes to a stop. Where
-- timetable rows have the id too, they tell how often it runs, and a bus that runs under it may be early or late.
{%- set way = "operator, service_date, listed_id, line_code, direction" %}
{%- set start_gap_seconds = seconds_between('before.start_at', 'segments.start_at') %}
{%- set later_gap_seconds = seconds_between('before.last_at', 'segments.first_at') %}
{%- set earlier_gap_seconds = seconds_between('segments.last_at', 'before.first_at') %}
with visits as (
    select * from {{ ref('visit_positions') }}
),

segments as (
    -- visits of an id that started together, numbered in order
    select
        *,
        sum(is_apart) over (
            partition by {{ way }} order by estimated_start_at, position, visit_number
            rows between unbounded preceding and current row
        ) as segment
    from (
        select
            visits.*,
            case
                when
                    {{ seconds_between('lag(estimated_start_at) over listed', 'estimated_start_at') }}
                    -- a live bus may be much later than the timetable row of the stop before
                    > case
                        when lag(theoretical_at) over listed is not null and theoretical_at is null
                            then parameters.trip_late_seconds
                        else least(
                            parameters.trip_gap_seconds,
                            greatest(restart_seconds / 2, parameters.upward_jump_seconds)
                        )
                    end
                    then 1
                else 0
            end as is_apart
        from visits
        cross join {{ ref('inference_parameters') }} as parameters
        where position is not null
        window listed as (partition by {{ way }} order by estimated_start_at, position, visit_number)
    ) as gaps
),

segment_facts as (
    select
        {{ way }},
        segment,
        count(*) as n_visits,
        min(position) as first_position,
        max(position) as last_position,
        {{ list_of_distinct('position') }} as positions,
        count(theoretical_at) as n_announced,
        sum(count(theoretical_at)) over (partition by {{ way }}) as n_id_announced,
        max(restart_seconds) as restart_seconds,
        min(estimated_start_at) as start_at,
        min(expected_at) as first_at,
        max(expected_at) as last_at
    from segments
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
        coalesce(
            segments.n_visits = 1
            and before.n_visits > 1
            and (
                segments.first_position <= before.first_position
                or (
                    segments.n_announced = 0
                    and before.n_announced > 0
                    and {{ have_common('segments.positions', 'before.positions') }}
                )
            )
            and {{ later_gap_seconds }} between -parameters.upward_jump_seconds and parameters.trip_gap_seconds,
            false
        ) as is_loop_end,
        coalesce(
            (
                segments.n_id_announced > 0
                and segments.listed_id not like '@%'
                and not {{ have_common('segments.positions', 'before.positions') }}
                and greatest({{ later_gap_seconds }}, {{ earlier_gap_seconds }}) <= parameters.trip_late_seconds
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
            ),
            false
        ) as is_part
    from segment_facts as segments
    cross join {{ ref('inference_parameters') }} as parameters
    left join segment_facts as before
        on
            segments.operator = before.operator
            and segments.service_date = before.service_date
            and segments.listed_id = before.listed_id
            and segments.line_code = before.line_code
            and segments.direction = before.direction
            and segments.segment = before.segment + 1
),

trip_segments as (
    select
        *,
        max(case when not is_loop_end and not is_part then segment end) over (
            partition by {{ way }} order by segment rows between unbounded preceding and current row
        ) as first_segment
    from continuations
),

trips as (
    select
        *,
        row_number() over (
            partition by operator, service_date, listed_id order by start_at, line_code, direction, segment
        ) as trip_number,
        count(*) over (partition by operator, service_date, listed_id) as n_trips
    from trip_segments
    where segment = first_segment
),

placed as (
    select
        segments.*,
        trip_segments.is_loop_end,
        trips.trip_number,
        trips.n_trips
    from segments
    inner join trip_segments using ({{ way }}, segment)
    inner join trips using ({{ way }}, first_segment)
),

visits_nearby as (
    -- a visit of no clear line goes with the visit of its id that is nearest in time
    select
        visits.listed_visit_key,
        placed.trip_number,
        placed.n_trips,
        abs({{ seconds_between('placed.expected_at', 'visits.expected_at') }}) as off_seconds
    from visits
    inner join placed using (operator, service_date, listed_id)
    where visits.line_code is null
)

select
    visits.listed_visit_key,
    visits.operator,
    visits.service_date,
    visits.listed_id,
    visits.stop_code,
    visits.visit_number,
    visits.listed_id
    || case
        when coalesce(placed.n_trips, nearest.n_trips) > 1
            then '~' || cast(coalesce(placed.trip_number, nearest.trip_number) as varchar)
        else ''
    end as trip_id,
    visits.line_code,
    visits.direction,
    -- the stop list has no position for the end of a loop that it does not close
    case when not placed.is_loop_end then placed.position end as position,
    case when not placed.is_loop_end then placed.stop_sequence end as stop_sequence,
    visits.expected_at,
    case when not placed.is_loop_end then placed.estimated_start_at end as estimated_start_at
from visits
left join placed using (listed_visit_key)
left join {{ first_rows('visits_nearby', ['listed_visit_key'], 'off_seconds, trip_number') }} as nearest
    using (listed_visit_key)
