{# Joins the ruleset of an operator on a service date, as `rules`: the one set for the operator, else the one in force. A
   variant may use another one. #}
{% macro join_rules(service_date) -%}
    {%- set own = operator_rulesets() -%}
    {%- set operator = (service_date.rpartition(".")[0] ~ "." if "." in service_date else "") ~ "operator" -%}
    {%- set in_force -%}
        {{ service_date }} >= rules.valid_from_date and {{ service_date }} < rules.valid_to_date
    {%- endset -%}
    inner join {{ ref("rulesets") }} as rules
        on {% if var("ruleset_version") -%}
            {{ service_date }} is not null and rules.ruleset_version = {{ var("ruleset_version") }}
        {%- elif own -%}
            case {{ operator }}
                {% for each, version in own.items() -%}
                    when '{{ each }}' then {{ service_date }} is not null and rules.ruleset_version = {{ version }}
                {% endfor -%}
                else {{ in_force }}
            end
        {%- else -%}
            {{ in_force }}
        {%- endif %}
{%- endmacro %}

{# The versions of the rulesets that are set for operators, by operator. They are read when models are compiled, as dates
   are (macros/incremental.sql). #}
{% macro operator_rulesets() -%}
    {{ return(fromjson(env_var("BUILD_RULESETS", "{}")) if execute else {}) }}
{%- endmacro %}
