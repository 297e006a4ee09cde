-- One row per step from a stop of a line to a later one that listings show: how many seconds it took per stop, and how
-- much longer than over the whole day a bus takes in its hour, as a factor.
-- Both stops listed the same id, or they are neighbours and listed anonymous rows; then a row is taken for the trip
-- that is due next at the later stop. The factor is that of the line, direction and hour. Timetables follow the
-- traffic, so that live steps tell it as well. With few steps of the line in the hour it is nearer to the factor of all
-- lines.
{%- set way = "operator, service_date, line_code, direction" %}
with stops as (
    select
        *,
        is_circular and position in (1, last_position) as is_end_of_loop
    from {{ built('line_stops_of_day') }}
),

times as (
    select
        visits.*,
        lines.line_code,
        lines.direction,
        stops.position,
        stops.is_end_of_loop
    from {{ built('listed_visits') }} as visits
    inner join {{ built('visit_lines') }} as lines using (listed_visit_key, service_date)
    inner join stops using ({{ way }}, stop_code)
    -- where a loop begins and ends, the stops before and after decide which of the two it is
    where stops.n_occurrences = 1 or stops.is_end_of_loop
),

listed_times as (
    -- anonymous rows are left out: all those of one label and time have the same id, at whatever stops
    select
        *,
        'timetable_id' as source,
        theoretical_at as listed_at
    from times
    where theoretical_at is not null and listed_id not like '@%'
    union all
    select
        *,
        'live_id' as source,
        last_predicted_at as listed_at
    from times
    where last_predicted_at is not null
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

anonymous_rows as (
    select * from times
    where listed_id like '@%' and not is_end_of_loop
),

anonymous_steps as (
    select
        {{ way }},
        rows_here.service_hour,
        rows_here.position,
        seconds_between(rows_here.theoretical_at, min(rows_next.theoretical_at)) as step_seconds
    from anonymous_rows as rows_here
    cross join {{ ref('inference_parameters') }} as parameters
    inner join anonymous_rows as rows_next using ({{ way }})
    where
        rows_here.destination is not distinct from rows_next.destination
        and rows_here.position + 1 = rows_next.position
        and seconds_between(rows_here.theoretical_at, rows_next.theoretical_at)
        between 0 and parameters.longest_step_seconds
    group by
        {{ way }}, rows_here.service_hour, rows_here.position, rows_here.listed_id, rows_here.destination,
        rows_here.theoretical_at
),

steps as (
    select
        {{ way }},
        service_hour,
        position,
        next_position,
        source,
        seconds_between(listed_at, next_listed_at) / (next_position - position) as step_seconds
    from id_steps
    where next_position > position and not (is_end_of_loop and is_next_end_of_loop)
    union all
    select
        {{ way }},
        service_hour,
        position,
        position + 1 as next_position,
        'anonymous' as source,
        step_seconds
    from (
        select
            *,
            percentile(step_seconds, 0.25) over (
                partition by {{ way }}, position
            ) as quarter_seconds
        from anonymous_steps
    ) as compared
    -- a row whose trip is not listed at the next stop is paired with a later trip: the shorter steps are right
    where step_seconds <= 2 * quarter_seconds + 60
),

step_factors as (
    select
        steps.*,
        parameters.usual_steps,
        steps.step_seconds / median(steps.step_seconds) over (
            partition by steps.operator, steps.service_date, steps.line_code, steps.direction, steps.position
        ) as factor
    from steps
    cross join {{ ref('inference_parameters') }} as parameters
    where
        steps.next_position = steps.position + 1
        and steps.step_seconds between 1 and parameters.longest_step_seconds
),

hours as (
    select
        operator,
        service_date,
        service_hour,
        median(factor) as factor
    from step_factors
    group by operator, service_date, service_hour
),

travel_factors as (
    select
        {{ way }},
        service_hour,
        {{ rounded(
            "(count(*) * median(step_factors.factor) + max(step_factors.usual_steps) * max(hours.factor))"
            ~ " / (count(*) + max(step_factors.usual_steps))", 3
        ) }} as travel_factor
    from step_factors
    inner join hours using (operator, service_date, service_hour)
    group by {{ way }}, service_hour
)

select
    steps.*,
    travel_factors.travel_factor
from steps
left join travel_factors using ({{ way }}, service_hour)
