{%- set off_seconds = 'abs(' ~ seconds_between('departures.departure_at', 'visits.due_at') ~ ')' %}
-- One row per operator, service_date, trip, stop and visit of an anonymous row: the departure that the row is about.
-- It is the nearest one to when its bus is due at the origin, by running times or else by travel times: near enough, or
-- much nearer than the next departure.
with visits as (
    select
        listed_visit_key,
        operator,
        service_date,
        line_code,
        direction,
        position,
        theoretical_at,
        leg,
        coalesce(running_seconds, from_origin_seconds) as from_origin_seconds,
        {{ add_seconds('theoretical_at', '-coalesce(running_seconds, from_origin_seconds)') }} as due_at
    from {{ built('leg_visits') }}
    where is_anonymous
),

ranked as (
    select
        visits.*,
        departures.departure_key,
        departures.departure_at,
        row_number() over (
            partition by visits.listed_visit_key order by {{ off_seconds }}, departures.departure_at, departures.leg
        ) as nth
    from visits
    cross join {{ ref('inference_parameters') }} as parameters
    {{ join_near_departures('visits', off_seconds, 'parameters.match_theoretical_seconds') }}
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
