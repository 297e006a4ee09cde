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
