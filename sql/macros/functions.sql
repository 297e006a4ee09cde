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
    {{ grouped_between_function("punctuality_between", punctuality_over) }};
    {{ stop_punctuality_between_function() }};
    {{ grouped_between_function("rulesets_between", rulesets_over) }};
    {{ waits_between_function("network_waits_between", [], "line_variance") }};
    {{ waits_between_function("line_waits_between", ["line_code", "direction"], "line_variance") }};
    {{ waits_between_function("stop_waits_between", ["stop_code", "line_code", "direction"], "squared_sum_variance") }};
    {{ grouped_between_function("predictions_between", predictions_over) }};
    {{ travel_times_between_function() }};
    {{ direction_names_function() }};
    {%- endif %}
{%- endmacro %}

{# The condition that leaves the dates asked for: without a first date all until the last one, and without a last date
   those that are over. A client older than DuckDB 2 has to say null: it finds no defaults in the file. #}
{% macro between_dates() -%}
    where
        service_date >= coalesce(cast(from_date as date), date '0001-01-01')
        and service_date <= coalesce(cast(to_date as date), date '9999-12-31')
        and (
            to_date is not null
            or (operator, service_date) in (select (closed.operator, closed.service_date) from core.closed_dates as closed)
        )
{%- endmacro %}

{# A function that sums for each value of `key`, an expression: `over` is the macro that does. #}
{% macro grouped_between_function(name, over) -%}
    create or replace macro {{ name }}(key, from_date := null, to_date := null) as table
    select * rename (grouped_by as key) from (
        {{ over(
            "first_date", "cast(from_date as date)", ["grouped_by"], among=between_dates(), grouped_by="key"
        ) }}
    ) as sums
{%- endmacro %}

{% macro stop_punctuality_between_function() -%}
    create or replace macro stop_punctuality_between(from_date := null, to_date := null) as table
    {{ stop_punctuality_over("first_date", "cast(from_date as date)", ["stop_code"], among=between_dates()) }}
{%- endmacro %}

{% macro waits_between_function(name, keys, variance) -%}
    create or replace macro {{ name }}(from_date := null, to_date := null) as table
    {{ waits_over("first_date", "cast(from_date as date)", keys, variance, among=between_dates()) }}
{%- endmacro %}

{% macro travel_times_between_function() -%}
    create or replace macro travel_times_between(from_date := null, to_date := null) as table
    {{ travel_times_over("first_date", "cast(from_date as date)", among=between_dates()) }}
{%- endmacro %}

{% macro direction_names_function() -%}
    create or replace macro direction_names() as table
    select * from {{ named_directions() }} as names
{%- endmacro %}
