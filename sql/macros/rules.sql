{# Joins the ruleset in force on a service date, as `rules`; a variant may use another one. #}
{% macro join_rules(service_date) -%}
    inner join {{ ref("rulesets") }} as rules
        on {% if var("ruleset_version") -%}
            {{ service_date }} is not null and rules.ruleset_version = {{ var("ruleset_version") }}
        {%- else -%}
            {{ service_date }} >= rules.valid_from_date and {{ service_date }} < rules.valid_to_date
        {%- endif %}
{%- endmacro %}

{# The rules of each service date that a relation of millions of rows has, to be joined by date: cheaper than
   join_rules(), which compares dates row by row. #}
{% macro rules_of_dates(relation) -%}
    (
        select
            days.service_date,
            rules.*
        from (select distinct service_date from {{ relation }}) as days
        {{ join_rules("days.service_date") }}
    )
{%- endmacro %}
