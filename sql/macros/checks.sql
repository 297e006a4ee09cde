{# What a build demands of each model and seed once it is made: what its checks `grain` and `holds` say, in one statement.
   It fails with the name of each check that is broken and by how many rows, and the model keeps the rows of before. A
   node of dbt for each check would take longer than most models. #}
{% macro demand_checks() -%}
    {%- set found = [] -%}
    {%- for check in (graph.nodes.values() if execute else []) if check.get("attached_node") == model.unique_id -%}
        {%- set arguments = dict(check.test_metadata.kwargs, model=this) -%}
        {%- do arguments.pop("column_name", none) -%}
        {%- if check.test_metadata.name == "grain" -%}
            {%- set broken = rows_without_key(**arguments) -%}
            {%- set name = "'key (" ~ arguments.columns | join(", ") ~ ")'" -%}
        {%- elif check.test_metadata.name == "holds" -%}
            {%- set broken = rows_that_break(**arguments) -%}
            {%- set name = "broken_rule" -%}
        {%- endif -%}
        {%- if broken -%}
            {%- do found.append(
                "select name, count(*) as n_rows from (select " ~ name ~ " as name from (" ~ broken
                ~ ") as rows_found) as named group by name"
            ) -%}
        {%- endif -%}
    {%- endfor -%}
    {%- if found -%}
        {%- set counted = "name || ' (' || cast(n_rows as " ~ type_string() ~ ") || ' rows)'" -%}
        {%- set names = "sorted_text(collect_set(" ~ counted ~ "))" -%}
        {#- with `having` Spark would raise the error before it looks at the condition -#}
        {%- set failure = "raise_error('check of " ~ this.schema ~ "." ~ this.identifier ~ " failed: ' || " ~ names ~ ")" %}
        select case when count(*) > 0 then {{ failure }} end
        from ({{ found | join(" union all ") }}) as checks
    {%- endif -%}
{%- endmacro %}

{# Rows whose key is incomplete or not theirs alone. `may_be_null` names key columns that may be unknown. #}
{% macro rows_without_key(model, columns, date_column="service_date", may_be_null=[]) -%}
    {%- set keys = [] -%}
    {%- for column in columns %}{% do keys.append(adapter.quote(column)) %}{% endfor -%}
    select
        {{ keys | join(", ") }},
        count(*) as n_rows
    from {{ model }}
    {% if date_column %}where {{ is_received_around(date_column) }}{% endif %}
    group by {{ keys | join(", ") }}
    having
        count(*) > 1
        {%- for column in columns if column not in may_be_null %}
        or {{ adapter.quote(column) }} is null
        {%- endfor %}
{%- endmacro %}

{# Rows that break a rule, each with the name of the first one. A rule is an expression that must be true; unknown breaks
   it. #}
{% macro rows_that_break(model, rules, date_column="service_date") -%}
    select
        case
            {%- for name, expression in rules.items() %}
            when not coalesce({{ expression }}, false) then '{{ name }}'
            {%- endfor %}
        end as broken_rule,
        *
    from {{ model }}
    where
        not (
            {%- for expression in rules.values() %}
            coalesce({{ expression }}, false)
            {%- if not loop.last %} and{% endif %}
            {%- endfor %}
        )
        {%- if date_column %} and {{ is_received_around(date_column) }}{% endif %}
{%- endmacro %}
