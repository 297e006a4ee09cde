{# Views, and tables that are made anew by each build: in DuckDB one statement replaces what was there. dbt's own way takes
   four, and renames what it made, which is most of the time of a view. #}
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
