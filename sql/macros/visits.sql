{# True for rows of one visit: by its trip, or by what its stop called it before trips were put together. #}
{% macro is_same_visit(first, second, id="trip_id") -%}
    (
        {{ first }}.operator = {{ second }}.operator
        and {{ first }}.service_date = {{ second }}.service_date
        and {{ first }}.{{ id }} = {{ second }}.{{ id }}
        and {{ first }}.stop_code = {{ second }}.stop_code
        and {{ first }}.visit_number = {{ second }}.visit_number
    )
{%- endmacro %}

{# Joins the running times to a visit's position, of the hour its trip seems to have left in and of the whole day, as
   `of_hour` and `of_day`. #}
{% macro join_running_times(visits, guesses) -%}
    {%- for times, hour in [
        ("of_hour", guesses ~ ".service_hour = of_hour.service_hour"), ("of_day", "of_day.service_hour is null")
    ] %}
    left join {{ ref("running_times") }} as {{ times }}
        on
            {{ visits }}.operator = {{ times }}.operator
            and {{ visits }}.service_date = {{ times }}.service_date
            and {{ visits }}.line_code = {{ times }}.line_code
            and {{ visits }}.direction = {{ times }}.direction
            and {{ visits }}.leg = {{ times }}.leg
            and {{ visits }}.position = {{ times }}.position
            and {{ hour }}
            and {{ is_built(times ~ ".service_date") }}
    {%- endfor %}
{%- endmacro %}

{# Of pairs of a live visit (call_number, visit_key, live_at) and a theoretical one (theoretical_call_number,
   theoretical_key, theoretical_at) that lie off_seconds apart, those in which each is the other's nearest, and how much
   nearer than any other of either. #}
{% macro each_others_nearest(pairs) -%}
    (
        select *
        from (
            select
                *,
                least(
                    lead(off_seconds) over for_live - off_seconds, lead(off_seconds) over for_theoretical - off_seconds
                ) as nearer_by_seconds,
                row_number() over for_live as nth_for_live,
                row_number() over for_theoretical as nth_for_theoretical
            from {{ pairs }}
            window
                for_live as (partition by call_number, visit_key order by off_seconds, theoretical_at),
                for_theoretical as (
                    partition by theoretical_call_number, theoretical_key order by off_seconds, live_at, call_number
                )
        ) as ranked
        where nth_for_live = 1 and nth_for_theoretical = 1
    )
{%- endmacro %}

{# Since when a trip has been live, by the first_live_at of its visits, of which one may be another's. #}
{% macro live_since() -%}
    coalesce(
        case when count(first_live_at) > 2 then {{ nth_smallest('first_live_at', 2) }} end, min(first_live_at)
    )
{%- endmacro %}
