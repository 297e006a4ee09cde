{# A build demands it together with the other checks of the model (macros/checks.sql). #}
{% test holds(model, rules, date_column='service_date') %}
{{ config(severity='error', meta={'checks': 'logic'}) }}
{{ rows_that_break(model, rules, date_column) }}
{% endtest %}
