{# The departure that each trip seems to run as, of equal ones the first: the nearest to when the trip was due at its
   origin that is near enough, or, where only travel times tell how long the way from there took, at least much nearer
   than the next departure. A query, with the columns of the trips, departure_key, departure_at, departure_hour, and how
   far it is from when the trip was due, as off_seconds.

   trips:        a relation with the leg.
   key:          the column that tells one trip from another; of its rows the best one counts.
   due_at:       when a trip was due at its origin, as an expression.
   near_seconds: what is near enough.
   way_seconds:  how long the way from the origin took.
   best_first:   which rows of a trip come before those with nearer departures. #}
{% macro nearest_departures(trips, key, due_at, near_seconds, way_seconds="from_origin_seconds", best_first=none) -%}
    {%- set off_seconds = "abs(seconds_between(departures.departure_at, " ~ due_at ~ "))" -%}
    {%- set far_seconds = "(" ~ near_seconds ~ " + match_travel_share * " ~ way_seconds ~ ")" -%}
    select *
    from (
        select
            trips.*,
            departures.departure_key,
            departures.departure_at,
            departures.service_hour as departure_hour,
            {{ off_seconds }} as off_seconds,
            row_number() over (
                partition by {{ key }}
                order by {{ best_first ~ ", " if best_first }}{{ off_seconds }}, departures.departure_at, leg nulls last
            ) as nth_nearest
        from {{ trips }} as trips
        cross join {{ ref('inference_parameters') }} as parameters
        inner join {{ built('timetable_departures') }} as departures
            using (operator, service_date, line_code, direction, leg)
        where
            departures.slot_number = 1
            and {{ off_seconds }} <= greatest(
                {{ near_seconds }},
                least({{ far_seconds }}, coalesce(departures.headway_seconds, {{ far_seconds }}) / 4)
            )
    ) as ranked
    where nth_nearest = 1
{%- endmacro %}

{# The service dates being built on which passages were requested: nothing can be said of others. #}
{% macro watched_dates() -%}
    (
        select distinct
            operator,
            service_date
        from {{ ref('staging_requests') }}
        where endpoint = 'passages' and {{ is_built() }} and {{ is_received_around() }}
    )
{%- endmacro %}

{# When the last request for passages around the service dates being built was answered or failed, by operator: what is
   scheduled for later is not due yet. An upstream that fails or is silent does not stop the time. #}
{% macro last_answers() -%}
    (
        select
            operator,
            max(received_at) as last_received_at
        from {{ ref('staging_requests') }}
        where endpoint = 'passages' and {{ is_received_around('received_date') }}
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

{# True for a match with a departure (departure_matches) that is not sure: its bus was seen live only, and may have run as
   another.

   In a relation joined with `matches`. #}
{% macro is_guessed_match() -%}
    coalesce(matches.basis = 'live' and matches.match_score < 0.95, false)
{%- endmacro %}
