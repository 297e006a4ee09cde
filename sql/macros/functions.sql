{# Creates the functions that sum figures over any period, from the same macros as the marts: what a share is, its
   interval and its null rules stand once. A publication copies them into the file. #}
{% macro create_functions() -%}
    {#- they read tables of all stages, which a run for some models need not have made -#}
    {%- set statements = adapter.dispatch("create_functions", "transit")() -%}
    {{ statements if "model.transit.on_time_network" in selected_resources }}
{%- endmacro %}
{% macro spark__create_functions() -%}
{%- endmacro %}
{% macro default__create_functions() -%}
    {%- if not var("schema_suffix") %}
    {{ punctuality_between_function() }};
    {{ stop_punctuality_between_function() }};
    {{ rulesets_between_function() }};
    {{ waits_between_function("network_waits_between", [], "line_variance") }};
    {{ waits_between_function("line_waits_between", ["line_code", "direction"], "line_variance") }};
    {{ waits_between_function("stop_waits_between", ["stop_code", "line_code", "direction"], "squared_sum_variance") }};
    {{ predictions_between_function() }};
    {{ travel_times_between_function() }};
    {{ direction_names_function() }};
    {%- endif %}
{%- endmacro %}

{# The condition that leaves the dates asked for. #}
{% macro between_dates() -%}
    where service_date between from_date and to_date
{%- endmacro %}

{% macro punctuality_between_function() -%}
    create or replace macro punctuality_between(key, from_date, to_date) as table
    select * rename (grouped_by as key) from (
        {{ punctuality_over(
            "first_date", "cast(from_date as date)", ["grouped_by"], among=between_dates(), grouped_by="key"
        ) }}
    ) as sums
{%- endmacro %}

{% macro stop_punctuality_between_function() -%}
    create or replace macro stop_punctuality_between(from_date, to_date) as table
    {{ stop_punctuality_over("first_date", "cast(from_date as date)", ["stop_code"], among=between_dates()) }}
{%- endmacro %}

{% macro rulesets_between_function() -%}
    create or replace macro rulesets_between(key, from_date, to_date) as table
    select * rename (grouped_by as key) from (
        {{ rulesets_over(
            "first_date", "cast(from_date as date)", ["grouped_by"], among=between_dates(), grouped_by="key"
        ) }}
    ) as sums
{%- endmacro %}

{% macro waits_between_function(name, keys, variance) -%}
    create or replace macro {{ name }}(from_date, to_date) as table
    {{ waits_over("first_date", "cast(from_date as date)", keys, variance, among=between_dates()) }}
{%- endmacro %}

{% macro predictions_between_function() -%}
    create or replace macro predictions_between(key, from_date, to_date) as table
    select * rename (grouped_by as key) from (
        {{ predictions_over(
            "first_date", "cast(from_date as date)", ["grouped_by"], among=between_dates(), grouped_by="key"
        ) }}
    ) as sums
{%- endmacro %}

{% macro travel_times_between_function() -%}
    create or replace macro travel_times_between(from_date, to_date) as table
    {{ travel_times_over("first_date", "cast(from_date as date)", among=between_dates()) }}
{%- endmacro %}

{% macro direction_names_function() -%}
    create or replace macro direction_names() as table
    select * from {{ named_directions() }} as names
{%- endmacro %}
