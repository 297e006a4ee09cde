-- One row per operator, service_date, line, direction and position: about how long a bus is on its way from the first
-- stop. Learned from timetable rows of neighbouring stops, where a row without an id is that trip's that is due next,
-- or else from ids that are listed at several stops, whatever those ids identify.
with stops as (
    select
        operator,
        service_date,
        line_code,
        direction,
        position,
        stop_code,
        n_occurrences,
        is_circular and position in (1, last_position) as is_end_of_loop
    from {{ ref('line_stops_of_day') }}
    where {{ is_built() }}
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
    from {{ ref('visit_evidence') }} as evidence
    inner join {{ ref('visit_lines') }} as lines
        on
            {{ is_same_visit('evidence', 'lines', 'listed_id') }}
    inner join stops
        on
            lines.operator = stops.operator
            and lines.service_date = stops.service_date
            and lines.line_code = stops.line_code
            and lines.direction = stops.direction
            and lines.stop_code = stops.stop_code
            -- where a loop begins and ends, what comes before and after tells which it is
            and (stops.n_occurrences = 1 or stops.is_end_of_loop)
    where {{ is_built('evidence.service_date') }}
),

seen as (
    -- a timetable row without an id has the name of every row of its label that is due at that moment, anywhere
    select
        times.*,
        'theoretical' as kind,
        times.theoretical_at as seen_at
    from times
    where times.theoretical_at is not null and times.listed_id not like '@%'
    union all
    select
        times.*,
        'live' as kind,
        times.last_predicted_at as seen_at
    from times
    where times.last_predicted_at is not null
),

steps as (
    select
        operator,
        service_date,
        line_code,
        direction,
        kind,
        position,
        next_position,
        {{ seconds_between('seen_at', 'next_seen_at') }} / (next_position - position) as step_seconds
    from (
        select
            *,
            lead(position) over next_stop as next_position,
            lead(seen_at) over next_stop as next_seen_at,
            lead(is_end_of_loop) over next_stop as is_next_end_of_loop
        from seen
        window next_stop as (
            partition by operator, service_date, listed_id, line_code, direction, kind
            -- a bus that comes in may go out again
            order by seen_at, case when is_end_of_loop then -position else position end
        )
    ) as pairs
    where next_position > position and not (is_end_of_loop and is_next_end_of_loop)
),

timetable_steps as (
    select
        rows_here.operator,
        rows_here.service_date,
        rows_here.line_code,
        rows_here.direction,
        rows_here.position,
        rows_here.listed_id,
        {{ seconds_between('rows_here.theoretical_at', 'min(rows_next.theoretical_at)') }} as step_seconds
    from times as rows_here
    {{ join_rules('rows_here.service_date') }}
    inner join times as rows_next
        on
            rows_here.operator = rows_next.operator
            and rows_here.service_date = rows_next.service_date
            and rows_here.line_code = rows_next.line_code
            and rows_here.direction = rows_next.direction
            and rows_here.destination is not distinct from rows_next.destination
            and rows_here.position + 1 = rows_next.position
            and rows_next.theoretical_at >= rows_here.theoretical_at
            and rows_next.theoretical_at <= {{ add_seconds('rows_here.theoretical_at', 'rules.step_longest_seconds') }}
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
    from steps
    where kind = 'theoretical' and next_position = position + 1
),

timetable_paces as (
    select
        operator,
        service_date,
        line_code,
        direction,
        position,
        -- a row whose own is not listed at the next stop finds a later trip's: the shorter ones tell
        coalesce(
            median(case when listed_id is null then step_seconds end),
            {{ quantile('step_seconds', 0.25) }}
        ) as step_seconds
    from timetable_steps
    group by operator, service_date, line_code, direction, position
),

paces as (
    -- a pair of stops speaks for each step between them; one that took minutes a step was two trips
    select
        stops.operator,
        stops.service_date,
        stops.line_code,
        stops.direction,
        stops.position,
        median(steps.step_seconds) as step_seconds
    from stops
    {{ join_rules('stops.service_date') }}
    left join steps
        on
            stops.operator = steps.operator
            and stops.service_date = steps.service_date
            and stops.line_code = steps.line_code
            and stops.direction = steps.direction
            and stops.position >= steps.position
            and stops.position < steps.next_position
            and steps.step_seconds <= rules.step_longest_seconds
    group by stops.operator, stops.service_date, stops.line_code, stops.direction, stops.position
)

select
    paces.operator,
    paces.service_date,
    paces.line_code,
    paces.direction,
    paces.position,
    -- sums of fractions differ in their last digit from build to build
    coalesce(
        round(
            sum(
                coalesce(timetable.step_seconds, paces.step_seconds, usual.step_seconds, rules.step_usual_seconds)
            ) over (
                partition by paces.operator, paces.service_date, paces.line_code, paces.direction
                order by paces.position rows between unbounded preceding and 1 preceding
            ),
            3
        ),
        0
    ) as pace_seconds,
    rules.ruleset_version
from paces
inner join (
    select
        each_step.operator,
        each_step.service_date,
        each_step.line_code,
        each_step.direction,
        median(each_step.step_seconds) as step_seconds
    from paces as each_step
    group by each_step.operator, each_step.service_date, each_step.line_code, each_step.direction
) as usual
    on
        paces.operator = usual.operator
        and paces.service_date = usual.service_date
        and paces.line_code = usual.line_code
        and paces.direction = usual.direction
left join timetable_paces as timetable
    on
        paces.operator = timetable.operator
        and paces.service_date = timetable.service_date
        and paces.line_code = timetable.line_code
        and paces.direction = timetable.direction
        and paces.position = timetable.position
{{ join_rules('paces.service_date') }}
