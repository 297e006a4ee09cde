-- One row per operator, service_date, trip, stop and visit of an anonymous row: the departure that the row is about.
with visits as (
    select
        visits.listed_visit_key,
        visits.operator,
        visits.service_date,
        visits.line_code,
        visits.direction,
        visits.position,
        visits.theoretical_at,
        visits.leg,
        parameters.match_theoretical_seconds,
        {{ add_seconds('visits.theoretical_at', '-visits.running_seconds') }} as due_at
    from {{ built('leg_visits') }} as visits
    cross join {{ ref('inference_parameters') }} as parameters
    where visits.is_anonymous and visits.provisional_departure_at is not null
),

ranked as (
    select
        visits.*,
        departures.departure_key,
        departures.departure_at,
        row_number() over (
            partition by visits.listed_visit_key
            order by abs({{ seconds_between('departures.departure_at', 'visits.due_at') }}), departures.departure_at
        ) as nth
    from visits
    inner join {{ built('timetable_departures') }} as departures
        using (operator, service_date, line_code, direction, leg)
    where
        departures.slot_number = 1
        and departures.departure_at
        between {{ add_seconds('visits.due_at', '-visits.match_theoretical_seconds') }}
        and {{ add_seconds('visits.due_at', 'visits.match_theoretical_seconds') }}
)

select
    listed_visit_key,
    operator,
    service_date,
    line_code,
    direction,
    position,
    theoretical_at,
    leg,
    departure_at,
    departure_key
from ranked
where nth = 1
