{{ config(materialized=inlined()) }}
-- One row per listed visit: its line and direction, and, where they are clear, its position in their stop list, when
-- its trip would have started from the first stop, and with which other visits of its id it started together.
-- A stop that the direction serves twice is two candidates, of which the one that fits the rest of the trip is chosen.
{%- set way = "operator, service_date, listed_id, line_code, direction" %}
with visits as (
    select
        evidence.*,
        lines.line_code,
        lines.direction
    from {{ built('visit_evidence') }} as evidence
    inner join {{ built('visit_lines') }} as lines using (listed_visit_key, service_date)
),

travel_times as (
    select
        *,
        -- how soon a vehicle can start the same way again: after the loop, or after going there and back
        max(case when is_circular then travel_seconds else 2 * travel_seconds end) over (
            partition by operator, service_date, line_code, direction
        ) as restart_seconds
    from {{ built('line_travel_times') }}
),

candidates as (
    select
        visits.*,
        stops.position,
        stops.stop_sequence,
        stops.occurrence,
        stops.n_occurrences,
        stops.restart_seconds,
        add_seconds(visits.expected_at, -stops.travel_seconds * coalesce(factors.travel_factor, 1))
            as estimated_start_at
    from visits
    inner join travel_times as stops using (operator, service_date, line_code, direction, stop_code)
    left join {{ travel_factors() }} as factors using (operator, service_date, line_code, direction, service_hour)
),

anchors as (
    select * from candidates
    where n_occurrences = 1
),

loop_positions as (
    select
        looped.listed_visit_key,
        looped.position,
        row_number() over (
            partition by looped.listed_visit_key
            order by
                min(
                    abs(seconds_between(anchors.estimated_start_at, looped.estimated_start_at))
                ) nulls last,
                -- a bus that comes again would be listed at other stops too: seen here alone it comes for the last time
                case
                    when count(anchors.position) = 0 and max(looped.n_polls) > 0 then -looped.occurrence
                end nulls last,
                abs(looped.occurrence - looped.visit_number),
                looped.position
        ) as nth
    from candidates as looped
    left join anchors using (operator, service_date, listed_id, line_code, direction)
    where looped.n_occurrences > 1
    group by looped.listed_visit_key, looped.visit_number, looped.position, looped.occurrence
),

positions as (
    select
        candidates.*,
        case
            when
                seconds_between(lag(estimated_start_at) over listed, estimated_start_at)
                -- a live bus may be much later than the timetable row of the stop before
                > case
                    when lag(theoretical_at) over listed is not null and theoretical_at is null
                        then parameters.latest_bus_seconds
                    else least(
                        parameters.trip_gap_seconds, greatest(restart_seconds / 2, parameters.upward_jump_seconds)
                    )
                end
                then 1
            else 0
        end as is_apart
    from candidates
    cross join {{ ref('inference_parameters') }} as parameters
    left join loop_positions using (listed_visit_key, position)
    where candidates.n_occurrences = 1 or loop_positions.nth = 1
    window listed as (
        partition by {{ way }} order by estimated_start_at nulls last, position nulls last, candidates.visit_number
    )
),

segments as (
    -- visits of an id that started together, numbered in order
    select
        *,
        sum(is_apart) over (
            partition by {{ way }} order by estimated_start_at nulls last, position nulls last, visit_number
            rows between unbounded preceding and current row
        ) as segment
    from positions
)

select
    visits.*,
    segments.position,
    segments.stop_sequence,
    segments.restart_seconds,
    segments.estimated_start_at,
    segments.segment
from visits
left join segments using (listed_visit_key)
