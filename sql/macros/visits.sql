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
