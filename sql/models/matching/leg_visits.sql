{{ config(materialized='ephemeral') }}
{%- set factor = 'coalesce(factors.travel_factor, 1)' %}
-- One row per operator, service_date, trip, stop, visit and leg that the trip may run as: when the trip left the origin
-- of the leg, by this visit and the travel times of the line.
-- Only visits of known position that do not lie before the origin.
select
    visits.listed_visit_key,
    visits.trip_key,
    visits.operator,
    visits.service_date,
    visits.trip_id,
    visits.stop_code,
    visits.visit_number,
    visits.line_code,
    visits.direction,
    visits.position,
    legs.leg,
    legs.origin_position,
    visits.is_anonymous,
    visits.theoretical_at,
    visits.replaced_at,
    visits.passed_at,
    visits.passed_after,
    visits.first_live_at,
    visits.last_theoretical_at,
    {{ add_seconds('visits.estimated_start_at', 'coalesce(origins.travel_seconds * ' ~ factor ~ ', 0)') }}
        as estimated_departure_at,
    (here.travel_seconds - origins.travel_seconds) * {{ factor }} as from_origin_seconds
from {{ built('passing_times') }} as visits
inner join {{ built('trip_legs') }} as legs using (trip_key, operator, service_date, line_code, direction)
left join {{ built('line_travel_times') }} as here
    using (operator, service_date, line_code, direction, position)
left join {{ built('line_travel_times') }} as origins
    on
        legs.operator = origins.operator
        and legs.service_date = origins.service_date
        and legs.line_code = origins.line_code
        and legs.direction = origins.direction
        and legs.origin_position = origins.position
left join {{ built('hourly_travel_factors') }} as factors
    on
        visits.operator = factors.operator
        and visits.service_date = factors.service_date
        and visits.line_code = factors.line_code
        and visits.direction = factors.direction
        and visits.service_hour = factors.service_hour
where visits.position is not null and coalesce(visits.position >= legs.origin_position, true)
