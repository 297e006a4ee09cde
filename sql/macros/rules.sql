{# Joins the ruleset in force on a service date, as `rules`. #}
{% macro join_rules(service_date) -%}
    inner join {{ ref("rulesets") }} as rules
        on {{ service_date }} >= rules.valid_from_date and {{ service_date }} < rules.valid_to_date
{%- endmacro %}
