{# Rows that break a rule, each with the rule's name. A rule is an expression that must be true; unknown breaks it. #}
{% test holds(model, rules, date_column='service_date') %}
{{ config(severity='error', meta={'checks': 'logic'}) }}
{% for name, expression in rules.items() %}
select
    '{{ name }}' as broken_rule,
    *
from {{ model }}
where
    not coalesce({{ expression }}, false)
    {%- if date_column %} and {{ is_received_around(date_column, 1, 1) }}{% endif %}
{{ "union all" if not loop.last }}
{% endfor %}
{% endtest %}
