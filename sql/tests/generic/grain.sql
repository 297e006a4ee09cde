{# A build demands it together with the other checks of the model (macros/checks.sql). #}
{% test grain(model, columns, date_column='service_date', may_be_null=[]) %}
{{ config(severity='error', meta={'checks': 'logic'}) }}
{{ rows_without_key(model, columns, date_column, may_be_null) }}
{% endtest %}
