{# Findings about the data: odd but possible answers stop no build. #}
{% test nothing_found(model) %}
{{ config(severity='warn', meta={'checks': 'data'}) }}
select *
from {{ model }}
where {{ is_received_around('found_date') }}
{% endtest %}
