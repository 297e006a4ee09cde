-- One row per operator, service_date, trip, stop and visit of an anonymous row: the departure that the row is about,
-- and until when it was listed.
-- The departure is the nearest one to when its bus is due at the origin, by running times or else by travel times: near
-- enough, or much nearer than the next departure.
with visits as (
    select
        *,
        coalesce(running_seconds, from_origin_seconds) as way_seconds
    from {{ built('leg_visits') }}
    where is_anonymous
),

nearest as (
    {{ nearest_departures(
        'visits', 'listed_visit_key', "add_seconds(theoretical_at, -way_seconds)", 'match_theoretical_seconds',
        way_seconds='way_seconds'
    ) }}
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
    departure_key,
    last_theoretical_at
from nearest
