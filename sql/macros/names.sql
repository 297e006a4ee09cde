{# A model's folder is its schema, exactly: no prefix for who builds it. A variant, built under another ruleset
   or as of another instant, has schemas of its own (`marts_ruleset_2`); seeds and quality stay shared. #}
{% macro generate_schema_name(custom_schema_name, node) -%}
    {%- set name = custom_schema_name if custom_schema_name is not none else target.schema -%}
    {%- set own = ["intermediate", "core", "marts"] + (["staging"] if var("as_of") else []) -%}
    {{ name ~ (var("schema_suffix") if node.resource_type == "model" and name in own else "") }}
{%- endmacro %}

{# `staging_passages` is the view `staging.passages`: only dbt needs names that are unique over all schemas. #}
{% macro generate_alias_name(custom_alias_name=none, node=none) -%}
    {{ custom_alias_name if custom_alias_name is not none else node.name | replace("staging_", "", 1) }}
{%- endmacro %}

{# References name no catalog, so that every view still works in a copy of the database under any name. #}
{% macro ref() %}
    {% do return(builtins.ref(*varargs, **kwargs).include(database=false)) %}
{% endmacro %}

{# The id of a trip that only anonymous rows announced: one per departure. #}
{% macro anonymous_trip_id(departure) -%}
    '@' || {{ departure }}.line_code || '@' || {{ departure }}.direction || '@' || {{ departure }}.leg || '@'
    || cast({{ departure }}.departure_at as varchar)
{%- endmacro %}
