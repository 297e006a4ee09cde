{# Rows whose key is incomplete or not theirs alone. `may_be_null` names key columns that may be unknown. Of a model of
   periods those are read that begin up to `days_before` days before the dates being built. #}
{% test grain(model, columns, date_column='service_date', days_before=1, may_be_null=[]) %}
{{ config(severity='error', meta={'checks': 'logic'}) }}
{%- set keys = [] -%}
{%- for column in columns %}{% do keys.append(adapter.quote(column)) %}{% endfor -%}
select
    {{ keys | join(', ') }},
    count(*) as n_rows
from {{ model }}
{% if date_column %}where {{ is_received_around(date_column, days_before, 1) }}{% endif %}
group by {{ keys | join(', ') }}
having
    count(*) > 1
    {%- for column in columns if column not in may_be_null %}
    or {{ adapter.quote(column) }} is null
    {%- endfor %}
{% endtest %}
