-- One row per operator, service_date, trip, stop and visit with a timetable time: the departure that its trip seems to
-- run as.
-- Found by the first such visit of the trip, before the running times of the day are known.
{%- set off_seconds = 'abs(' ~ seconds_between('departures.departure_at', 'firsts.start_at') ~ ')' %}
with visits as (
    select
        *,
        {{ add_seconds('theoretical_at', '-from_origin_seconds') }} as start_at,
        row_number() over (
            partition by trip_key, leg order by position, visit_number, stop_code
        ) as nth_stop
    from {{ built('leg_visits') }}
    where theoretical_at is not null and from_origin_seconds is not null
),

nearest as (
    select
        firsts.trip_key,
        departures.leg,
        departures.departure_at,
        departures.service_hour,
        row_number() over (
            partition by firsts.trip_key
            order by {{ off_seconds }}, departures.departure_at, departures.leg
        ) as nth
    from visits as firsts
    cross join {{ ref('inference_parameters') }} as parameters
    {{ join_near_departures('firsts', off_seconds, 'parameters.provisional_match_seconds') }}
    where firsts.nth_stop = 1
)

select
    visits.listed_visit_key,
    visits.operator,
    visits.service_date,
    visits.line_code,
    visits.direction,
    visits.position,
    visits.is_anonymous,
    visits.theoretical_at,
    visits.leg,
    visits.origin_position,
    nearest.departure_at,
    nearest.service_hour
from visits
inner join nearest
    on visits.trip_key = nearest.trip_key and visits.leg = nearest.leg and nearest.nth = 1
