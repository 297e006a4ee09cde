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
    {{ add_seconds('visits.estimated_start_at', 'coalesce(origins.travel_seconds, 0)') }} as estimated_departure_at,
    here.travel_seconds - origins.travel_seconds as from_origin_seconds
from {{ ref('passing_times') }} as visits
inner join {{ ref('trip_legs') }} as legs
    on
        visits.trip_key = legs.trip_key
        and coalesce(visits.position >= legs.origin_position, true)
        and {{ is_built('legs.service_date') }}
left join {{ ref('line_travel_times') }} as here
    on
        visits.operator = here.operator
        and visits.service_date = here.service_date
        and visits.line_code = here.line_code
        and visits.direction = here.direction
        and visits.position = here.position
        and {{ is_built('here.service_date') }}
left join {{ ref('line_travel_times') }} as origins
    on
        legs.operator = origins.operator
        and legs.service_date = origins.service_date
        and legs.line_code = origins.line_code
        and legs.direction = origins.direction
        and legs.origin_position = origins.position
        and {{ is_built('origins.service_date') }}
where visits.position is not null and {{ is_built('visits.service_date') }}
