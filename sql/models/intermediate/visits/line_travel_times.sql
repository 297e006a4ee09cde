-- One row per operator, service_date, line, direction and position: the stop, and about how long a bus takes to it from
-- the first stop.
-- Learned from timetable rows of neighbouring stops; a row without an id is taken for the trip that is due next there.
-- Where there are none, learned from ids that are listed at several stops, whatever those ids identify.
with stops as (
    select
        *,
        is_circular and position in (1, last_position) as is_end_of_loop
    from {{ built('line_stops_of_day') }}
),

times as (
    select
        evidence.operator,
        evidence.service_date,
        evidence.listed_id,
        evidence.destination,
        lines.line_code,
        lines.direction,
        stops.position,
        stops.is_end_of_loop,
        evidence.theoretical_at,
        evidence.last_predicted_at
    from {{ built('visit_evidence') }} as evidence
    inner join {{ built('visit_lines') }} as lines using (listed_visit_key)
    inner join stops
        on
            evidence.operator = stops.operator
            and evidence.service_date = stops.service_date
            and lines.line_code = stops.line_code
            and lines.direction = stops.direction
            and evidence.stop_code = stops.stop_code
            -- where a loop begins and ends, the stops before and after decide which of the two it is
            and (stops.n_occurrences = 1 or stops.is_end_of_loop)
),

listed_times as (
    -- anonymous rows are left out: all those of one label and time have the same id, at whatever stops
    select
        times.*,
        'theoretical' as kind,
        times.theoretical_at as listed_at
    from times
    where times.theoretical_at is not null and times.listed_id not like '@%'
    union all
    select
        times.*,
        'live' as kind,
        times.last_predicted_at as listed_at
    from times
    where times.last_predicted_at is not null
),

id_steps as (
    -- seconds per stop between two stops that list the same id
    select
        operator,
        service_date,
        line_code,
        direction,
        kind,
        position,
        next_position,
        {{ seconds_between('listed_at', 'next_listed_at') }} / (next_position - position) as step_seconds
    from (
        select
            *,
            lead(position) over next_stop as next_position,
            lead(listed_at) over next_stop as next_listed_at,
            lead(is_end_of_loop) over next_stop as is_next_end_of_loop
        from listed_times
        window next_stop as (
            partition by operator, service_date, listed_id, line_code, direction, kind
            -- at the end of a loop, a bus that arrives may start again
            order by listed_at, case when is_end_of_loop then -position else position end
        )
    ) as pairs
    where next_position > position and not (is_end_of_loop and is_next_end_of_loop)
),

timetable_steps as (
    -- seconds to the next stop by timetable times: of anonymous rows, and of ids
    select
        rows_here.operator,
        rows_here.service_date,
        rows_here.line_code,
        rows_here.direction,
        rows_here.position,
        rows_here.listed_id,
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
        rows_here.operator, rows_here.service_date, rows_here.line_code, rows_here.direction, rows_here.position,
        rows_here.listed_id, rows_here.destination, rows_here.theoretical_at
    union all
    select
        operator,
        service_date,
        line_code,
        direction,
        position,
        null as listed_id,
        step_seconds
    from id_steps
    where kind = 'theoretical' and next_position = position + 1
),

timetable_medians as (
    select
        operator,
        service_date,
        line_code,
        direction,
        position,
        coalesce(
            median(case when listed_id is null then step_seconds end),
            -- an anonymous row whose trip is not listed at the next stop is paired with a later trip: the shorter ones
            -- are right
            {{ quantile('step_seconds', 0.25) }}
        ) as step_seconds
    from timetable_steps
    group by operator, service_date, line_code, direction, position
),

id_medians as (
    -- a pair of stops counts for each step between them; one with too many seconds per step was two trips
    select
        stops.operator,
        stops.service_date,
        stops.line_code,
        stops.direction,
        stops.position,
        median(steps.step_seconds) as step_seconds
    from stops
    cross join {{ ref('inference_parameters') }} as parameters
    left join id_steps as steps
        on
            stops.operator = steps.operator
            and stops.service_date = steps.service_date
            and stops.line_code = steps.line_code
            and stops.direction = steps.direction
            and stops.position >= steps.position
            and stops.position < steps.next_position
            and steps.step_seconds <= parameters.longest_step_seconds
    group by stops.operator, stops.service_date, stops.line_code, stops.direction, stops.position
),

line_medians as (
    select
        operator,
        service_date,
        line_code,
        direction,
        median(step_seconds) as step_seconds
    from id_medians
    group by operator, service_date, line_code, direction
)

select
    stops.operator,
    stops.service_date,
    stops.line_code,
    stops.direction,
    stops.position,
    stops.stop_code,
    stops.stop_sequence,
    stops.occurrence,
    stops.n_occurrences,
    stops.is_circular,
    -- rounded, because sums of fractions differ in their last digit from build to build
    coalesce(
        round(
            sum(
                coalesce(
                    timetable_medians.step_seconds, id_medians.step_seconds, line_medians.step_seconds,
                    parameters.usual_step_seconds
                )
            ) over (
                partition by stops.operator, stops.service_date, stops.line_code, stops.direction
                order by stops.position rows between unbounded preceding and 1 preceding
            ),
            3
        ),
        0
    ) as travel_seconds
from stops
cross join {{ ref('inference_parameters') }} as parameters
inner join id_medians using (operator, service_date, line_code, direction, position)
inner join line_medians using (operator, service_date, line_code, direction)
left join timetable_medians using (operator, service_date, line_code, direction, position)
