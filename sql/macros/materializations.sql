{# Views, and tables that are made anew by each build: in DuckDB one statement replaces what was there. dbt would make them
   under another name, rename them and drop what was there. #}
{% materialization view, adapter="duckdb" %}
    {{ return(replaced_relation("view")) }}
{% endmaterialization %}
{% materialization table, adapter="duckdb" %}
    {{ return(replaced_relation("table")) }}
{% endmaterialization %}

{% macro replaced_relation(type) -%}
    {%- set existing = load_cached_relation(this) -%}
    {%- set target = this.incorporate(type=type) -%}
    {%- if existing is not none and existing.type != type -%}
        {%- do adapter.drop_relation(existing) -%}
    {%- endif -%}
    {%- call statement("main") -%}
        create or replace {{ type }} {{ target }} as ({{ sql }})
    {%- endcall -%}
    {{ run_hooks(post_hooks) }}
    {%- do adapter.commit() -%}
    {{ return({"relations": [target]}) }}
{%- endmacro %}
