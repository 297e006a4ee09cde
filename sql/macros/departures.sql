{# The departures in force of the service dates being built, once each, and how far the next one before or after is. #}
{% macro due_departures() -%}
    (
        select
            *,
            least(
                {{ seconds_between('lag(departure_at) over leg_departures', 'departure_at') }},
                {{ seconds_between('departure_at', 'lead(departure_at) over leg_departures') }}
            ) as headway_seconds
        from (
            select distinct
                operator,
                service_date,
                line_code,
                direction,
                leg,
                departure_at,
                service_hour
            from {{ ref('timetable_departures') }}
            where is_in_force and {{ is_built() }}
        ) as once_each
        window leg_departures as (
            partition by operator, service_date, line_code, direction, leg order by departure_at, service_hour
        )
    )
{%- endmacro %}

{# True for a departure that can be meant: near by itself, or, where only the usual pace tells how long the way to it
   was, at least much nearer than any other. #}
{% macro is_meant(off_seconds, near_seconds, way_seconds, headway_seconds) -%}
    (
        {{ off_seconds }} <= {{ near_seconds }}
        or {{ off_seconds }} <= least(
            {{ near_seconds }} + rules.match_pace_share * {{ way_seconds }},
            coalesce({{ headway_seconds }}, {{ near_seconds }} + rules.match_pace_share * {{ way_seconds }}) / 4
        )
    )
{%- endmacro %}

{# The service dates being built on which passages were asked for: of others nothing can be said. #}
{% macro watched_dates() -%}
    (
        select distinct
            operator,
            service_date
        from {{ ref('requests') }}
        where endpoint = 'passages' and {{ is_built() }}
    )
{%- endmacro %}

{# The departures in force of the service dates being built; equal ones are numbered, so that as many trips may take
   them. #}
{% macro numbered_departures() -%}
    (
        select
            operator,
            service_date,
            line_code,
            direction,
            leg,
            departure_at,
            service_code,
            duplicate_number,
            valid_from,
            row_number() over (
                partition by operator, service_date, line_code, direction, leg, departure_at
                order by service_code, duplicate_number, valid_from
            ) as place
        from {{ ref('timetable_departures') }}
        where is_in_force and {{ is_built() }}
    )
{%- endmacro %}

{# The visits of trips with a line, once for each leg the trip may run as: when the trip began by the usual pace from
   where that leg begins, and how long the way from there is. #}
{% macro leg_visits() -%}
    (
        select
            runs.operator,
            runs.service_date,
            runs.trip_id,
            runs.stop_code,
            runs.visit_number,
            runs.theoretical_at,
            runs.replaced_at,
            runs.passed_at,
            runs.first_live_at,
            runs.last_theoretical_at,
            runs.passed_after,
            runs.line_code,
            runs.direction,
            runs.position,
            legs.leg,
            legs.origin_position,
            {{ add_seconds('runs.began_at', 'coalesce(origin_paces.pace_seconds, 0)') }} as left_at,
            paces.pace_seconds - origin_paces.pace_seconds as pace_seconds
        from {{ ref('visit_runs') }} as runs
        inner join {{ ref('trip_legs') }} as legs
            on
                runs.operator = legs.operator
                and runs.service_date = legs.service_date
                and runs.trip_id = legs.trip_id
                and runs.line_code = legs.line_code
                and runs.direction = legs.direction
                and coalesce(runs.position >= legs.origin_position, true)
        left join {{ ref('line_paces') }} as paces
            on
                runs.operator = paces.operator
                and runs.service_date = paces.service_date
                and runs.line_code = paces.line_code
                and runs.direction = paces.direction
                and runs.position = paces.position
                and {{ is_built('paces.service_date') }}
        left join {{ ref('line_paces') }} as origin_paces
            on
                legs.operator = origin_paces.operator
                and legs.service_date = origin_paces.service_date
                and legs.line_code = origin_paces.line_code
                and legs.direction = origin_paces.direction
                and legs.origin_position = origin_paces.position
                and {{ is_built('origin_paces.service_date') }}
        where runs.position is not null and not runs.is_stand_in and {{ is_built('runs.service_date') }}
    )
{%- endmacro %}

{# What it would cost each trip of a relation to run as another departure it may run as: one that is left, or that of
   another trip (`other_trip_id`), which would then have to run as this one's; null where it cannot.

   trips: trips with their departures; beside it a relation `pairs` has the cost of every pair. #}
{% macro exchanges(trips) -%}
    (
        select
            trips.operator,
            trips.service_date,
            trips.trip_id,
            trips.leg as own_leg,
            trips.match_doubt_seconds,
            others.leg,
            others.departure_at,
            others.place,
            others.cost_seconds,
            rivals.trip_id as other_trip_id,
            others.cost_seconds - trips.cost_seconds
            + case when rivals.trip_id is null then 0 else swapped.cost_seconds - rivals.cost_seconds end
                as change_seconds
        from {{ trips }} as trips
        inner join pairs as others
            on
                trips.operator = others.operator
                and trips.service_date = others.service_date
                and trips.trip_id = others.trip_id
                and (trips.departure_at != others.departure_at or trips.leg != others.leg)
        left join {{ trips }} as rivals
            on
                others.operator = rivals.operator
                and others.service_date = rivals.service_date
                and others.line_code = rivals.line_code
                and others.direction = rivals.direction
                and others.leg = rivals.leg
                and others.departure_at = rivals.departure_at
                and others.place = rivals.place
        left join pairs as swapped
            on
                rivals.operator = swapped.operator
                and rivals.service_date = swapped.service_date
                and rivals.trip_id = swapped.trip_id
                and trips.line_code = swapped.line_code
                and trips.direction = swapped.direction
                and trips.leg = swapped.leg
                and trips.departure_at = swapped.departure_at
                and trips.place = swapped.place
    )
{%- endmacro %}
