{%- set factor = 'coalesce(factors.travel_factor, 1)' %}
-- One row per operator, service_date, trip, stop, visit and leg that the trip may run as: when the trip left the origin
-- of the leg and when it was due there, by this visit, the departure that it seems to run as, and how long it is
-- scheduled to run from the origin to the stop.
-- When it left is computed from this visit and the running time, or else the travel times of the line; when it was due,
-- from the timetable time of this visit. The departure is provisional: found by the first visit of the trip with a
-- timetable time. Scheduled running times are the medians of the leg, position and hour of departure, or of the whole
-- day (null: not known), over visits with timetable times and provisional departures; times that differ too much
-- between trips are left out. Only visits of known position that do not lie before the origin.
with visits as (
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
        add_seconds(visits.estimated_start_at, coalesce(origins.travel_seconds * {{ factor }}, 0))
            as estimated_departure_at,
        (here.travel_seconds - origins.travel_seconds) * {{ factor }} as from_origin_seconds
    from {{ built('passing_times') }} as visits
    inner join {{ built('trip_legs') }} as legs using (trip_key, operator, service_date, line_code, direction)
    left join {{ travel_factors() }} as factors using (operator, service_date, line_code, direction, service_hour)
    left join {{ built('line_travel_times') }} as here
        using (operator, service_date, line_code, direction, position)
    left join {{ built('line_travel_times') }} as origins
        on
            legs.operator = origins.operator
            and legs.service_date = origins.service_date
            and legs.line_code = origins.line_code
            and legs.direction = origins.direction
            and legs.origin_position = origins.position
    where visits.position is not null and coalesce(visits.position >= legs.origin_position, true)
),

timed as (
    select * from visits
    where theoretical_at is not null and from_origin_seconds is not null
),

nearest as (
    {{ nearest_departures(
        first_rows('timed', ['trip_key', 'leg'], 'position, visit_number, stop_code'), 'trip_key',
        "add_seconds(theoretical_at, -from_origin_seconds)", 'provisional_match_seconds'
    ) }}
),

offsets as (
    select
        visits.*,
        nearest.departure_at as provisional_departure_at,
        -- of the visit, whatever leg the row is for
        max(nearest.departure_hour) over (partition by visits.listed_visit_key) as provisional_hour,
        case
            when visits.theoretical_at >= nearest.departure_at
                then seconds_between(nearest.departure_at, visits.theoretical_at)
        end as offset_seconds
    from visits
    left join nearest
        on
            visits.trip_key = nearest.trip_key
            and visits.leg = nearest.leg
            and visits.theoretical_at is not null
            and visits.from_origin_seconds is not null
),
{% set grains = {"hour": ["provisional_hour"], "day": []} %}
{%- set keys = ["operator", "service_date", "line_code", "direction", "leg", "position"] %}
{%- for grain, hours in grains.items() %}
    running_times_of_{{ grain }} as (
        select
            {{ (keys + hours) | join(", ") }},
            median(offset_seconds) as running_seconds
        from offsets
        cross join {{ ref('inference_parameters') }} as parameters
        where offset_seconds is not null
        group by {{ (keys + hours) | join(", ") }}
        having
            count(*) >= max(parameters.fewest_agreeing)
            -- of the middle 80 %: a few trips may be matched to the departure before or after theirs
            and percentile(offset_seconds, 0.9) - percentile(offset_seconds, 0.1)
            <= max(parameters.pattern_spread_seconds)
    ){{ "," if not loop.last }}
{% endfor %}
select
    visits.* {{ exclude("estimated_departure_at") }},
    coalesce(of_hour.running_seconds, of_day.running_seconds) as running_seconds,
    coalesce(add_seconds(visits.passed_at, -of_day.running_seconds), visits.estimated_departure_at)
        as left_at,
    -- where the origin is not known, it is taken to be the first known stop of the trip
    case
        when coalesce(visits.position = visits.origin_position, true) then visits.theoretical_at
        else add_seconds(
            visits.theoretical_at,
            -coalesce(of_hour.running_seconds, of_day.running_seconds, visits.from_origin_seconds)
        )
    end as due_at,
    case
        when visits.origin_position is null then visits.position
        -- its own time at the origin is exact; that of a row it replaced may have been another trip's
        when visits.position = visits.origin_position and visits.replaced_at is null then 1
        when visits.position = visits.origin_position then 2
        when coalesce(of_hour.running_seconds, of_day.running_seconds) is not null then 2
        else 3
    end as due_grade
from offsets as visits
left join running_times_of_hour as of_hour using ({{ (keys + ["provisional_hour"]) | join(", ") }})
left join running_times_of_day as of_day using ({{ keys | join(", ") }})
