{# Joins the ruleset in force on a service date, as `rules`; a variant may use another one. #}
{% macro join_rules(service_date) -%}
    inner join {{ ref("rulesets") }} as rules
        on {% if var("ruleset_version") -%}
            {{ service_date }} is not null and rules.ruleset_version = {{ var("ruleset_version") }}
        {%- else -%}
            {{ service_date }} >= rules.valid_from_date and {{ service_date }} < rules.valid_to_date
        {%- endif %}
{%- endmacro %}
