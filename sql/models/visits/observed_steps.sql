-- One row per step from a stop of a line to a later one that listings show: how many seconds it took per stop.
-- Both stops listed the same id, or they are neighbours and listed anonymous rows; then a row is taken for the trip
-- that is due next at the later stop.
with stops as (
    select
        *,
        is_circular and position in (1, last_position) as is_end_of_loop
    from {{ built('line_stops_of_day') }}
),

times as (
    select
        visits.operator,
        visits.service_date,
        visits.service_hour,
        visits.listed_id,
        visits.destination,
        lines.line_code,
        lines.direction,
        stops.position,
        stops.is_end_of_loop,
        visits.theoretical_at,
        visits.last_predicted_at
    from {{ built('listed_visits') }} as visits
    inner join {{ built('visit_lines') }} as lines using (listed_visit_key)
    inner join stops
        on
            visits.operator = stops.operator
            and visits.service_date = stops.service_date
            and lines.line_code = stops.line_code
            and lines.direction = stops.direction
            and visits.stop_code = stops.stop_code
            -- where a loop begins and ends, the stops before and after decide which of the two it is
            and (stops.n_occurrences = 1 or stops.is_end_of_loop)
),

listed_times as (
    -- anonymous rows are left out: all those of one label and time have the same id, at whatever stops
    select
        times.*,
        'timetable_id' as source,
        times.theoretical_at as listed_at
    from times
    where times.theoretical_at is not null and times.listed_id not like '@%'
    union all
    select
        times.*,
        'live_id' as source,
        times.last_predicted_at as listed_at
    from times
    where times.last_predicted_at is not null
),

id_steps as (
    select
        *,
        lead(position) over next_stop as next_position,
        lead(listed_at) over next_stop as next_listed_at,
        lead(is_end_of_loop) over next_stop as is_next_end_of_loop
    from listed_times
    window next_stop as (
        partition by operator, service_date, listed_id, line_code, direction, source
        -- at the end of a loop, a bus that arrives may start again
        order by listed_at, case when is_end_of_loop then -position else position end
    )
),

anonymous_steps as (
    select
        rows_here.operator,
        rows_here.service_date,
        rows_here.service_hour,
        rows_here.line_code,
        rows_here.direction,
        rows_here.position,
        {{ seconds_between('rows_here.theoretical_at', 'min(rows_next.theoretical_at)') }} as step_seconds
    from times as rows_here
    cross join {{ ref('inference_parameters') }} as parameters
    inner join times as rows_next
        on
            rows_here.operator = rows_next.operator
            and rows_here.service_date = rows_next.service_date
            and rows_here.line_code = rows_next.line_code
            and rows_here.direction = rows_next.direction
            and rows_here.destination is not distinct from rows_next.destination
            and rows_here.position + 1 = rows_next.position
            and rows_next.theoretical_at >= rows_here.theoretical_at
            and rows_next.theoretical_at
            <= {{ add_seconds('rows_here.theoretical_at', 'parameters.longest_step_seconds') }}
    where
        rows_here.listed_id like '@%'
        and rows_next.listed_id like '@%'
        and not rows_here.is_end_of_loop
        and not rows_next.is_end_of_loop
    group by
        rows_here.operator, rows_here.service_date, rows_here.service_hour, rows_here.line_code, rows_here.direction,
        rows_here.position, rows_here.listed_id, rows_here.destination, rows_here.theoretical_at
)

select
    operator,
    service_date,
    service_hour,
    line_code,
    direction,
    position,
    next_position,
    source,
    {{ seconds_between('listed_at', 'next_listed_at') }} / (next_position - position) as step_seconds
from id_steps
where next_position > position and not (is_end_of_loop and is_next_end_of_loop)
union all
select
    operator,
    service_date,
    service_hour,
    line_code,
    direction,
    position,
    position + 1 as next_position,
    'anonymous' as source,
    step_seconds
from (
    select
        *,
        {{ quantile('step_seconds', 0.25) }} over (
            partition by operator, service_date, line_code, direction, position
        ) as quarter_seconds
    from anonymous_steps
) as anonymous_steps
-- a row whose trip is not listed at the next stop is paired with a later trip: the shorter steps are right
where step_seconds <= 2 * quarter_seconds + 60
