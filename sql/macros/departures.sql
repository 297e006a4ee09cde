{# Joins the departures that a trip may run as, as `departures`, of equal ones the first: those near enough to when the
   trip was due at its origin, or, where only travel times tell how long the way from there took, at least much nearer
   than the next departure.

   trips:        a relation with the leg and from_origin_seconds, joined with `parameters`.
   off_seconds:  how far a departure is from when the trip was due, as an expression.
   near_seconds: what is near enough. #}
{% macro join_near_departures(trips, off_seconds, near_seconds) -%}
    {%- set far_seconds = near_seconds ~ " + parameters.match_travel_share * " ~ trips ~ ".from_origin_seconds" -%}
    inner join {{ built("timetable_departures") }} as departures
        on
            {{ trips }}.operator = departures.operator
            and {{ trips }}.service_date = departures.service_date
            and {{ trips }}.line_code = departures.line_code
            and {{ trips }}.direction = departures.direction
            and {{ trips }}.leg = departures.leg
            and departures.slot_number = 1
            and (
                {{ off_seconds }} <= {{ near_seconds }}
                or {{ off_seconds }}
                <= least({{ far_seconds }}, coalesce(departures.headway_seconds, {{ far_seconds }}) / 4)
            )
{%- endmacro %}

{# The service dates being built on which passages were requested: nothing can be said of others. #}
{% macro watched_dates() -%}
    (
        select distinct
            operator,
            service_date
        from {{ ref('requests') }}
        where endpoint = 'passages' and {{ is_built() }}
    )
{%- endmacro %}

{# When the last good answer about passages around the service dates being built was received, by operator: what is
   scheduled for later is not due yet. #}
{% macro last_answers() -%}
    (
        select
            operator,
            max(received_at) as last_received_at
        from {{ ref('stop_polls') }}
        where {{ is_received_around('received_date') }}
        group by operator
    )
{%- endmacro %}

{# The departures in force that are not known not to have run. #}
{% macro running_departures() -%}
    (select departure_key from {{ built('scheduled_departures') }} where is_in_force and outcome != 'not_run')
{%- endmacro %}

{# The lines and directions of which a bus was listed at all, by service date: nothing can be said of others. #}
{% macro listed_lines() -%}
    (
        select distinct
            operator,
            service_date,
            line_code,
            direction
        from {{ built('stop_visits') }}
        where line_code is not null
    )
{%- endmacro %}
