{# Rows that break a rule, each with the name of the first one. A rule is an expression that must be true; unknown breaks
   it. Of a model of periods those are read that begin up to `days_before` days before the dates being built. #}
{% test holds(model, rules, date_column='service_date', days_before=1) %}
{{ config(severity='error', meta={'checks': 'logic'}) }}
select
    case
        {%- for name, expression in rules.items() %}
        when not coalesce({{ expression }}, false) then '{{ name }}'
        {%- endfor %}
    end as broken_rule,
    *
from {{ model }}
where
    not (
        {%- for expression in rules.values() %}
        coalesce({{ expression }}, false)
        {%- if not loop.last %} and{% endif %}
        {%- endfor %}
    )
    {%- if date_column %} and {{ is_received_around(date_column, days_before, 1) }}{% endif %}
{% endtest %}
