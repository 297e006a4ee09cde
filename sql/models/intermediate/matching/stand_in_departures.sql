-- One row per operator, service_date, trip, stop and visit of a timetable row without an id: the departure it is about.
with due as (
    select
        guesses.operator,
        guesses.service_date,
        guesses.trip_id,
        guesses.stop_code,
        guesses.visit_number,
        guesses.line_code,
        guesses.direction,
        guesses.position,
        guesses.leg,
        guesses.theoretical_at,
        rules.match_theoretical_seconds,
        {{ add_seconds(
            'guesses.theoretical_at', '-coalesce(of_hour.offset_seconds, of_day.offset_seconds)'
        ) }} as due_at
    from {{ ref('departure_guesses') }} as guesses
    {{ join_rules('guesses.service_date') }}
    {{ join_running_times('guesses', 'guesses') }}
    where {{ is_built('guesses.service_date') }} and guesses.is_stand_in
),

ranked as (
    select
        due.*,
        departures.departure_at,
        row_number() over (
            partition by due.operator, due.service_date, due.trip_id, due.stop_code, due.visit_number
            order by abs({{ seconds_between('departures.departure_at', 'due.due_at') }}), departures.departure_at
        ) as nth
    from due
    inner join {{ due_departures() }} as departures
        on
            due.operator = departures.operator
            and due.service_date = departures.service_date
            and due.line_code = departures.line_code
            and due.direction = departures.direction
            and due.leg = departures.leg
            and departures.departure_at
            between {{ add_seconds('due.due_at', '-due.match_theoretical_seconds') }}
            and {{ add_seconds('due.due_at', 'due.match_theoretical_seconds') }}
)

select
    operator,
    service_date,
    trip_id,
    stop_code,
    visit_number,
    line_code,
    direction,
    position,
    theoretical_at,
    leg,
    departure_at
from ranked
where nth = 1
