{# How Spark writes tables that are rebuilt by service date: partitioned by the date, each date's folder written anew.
   The three macros below take the place of those of dbt's adapter, which knows no strategy for dates without rows. #}
{% macro partition_cols(label, required=false) %}
    {%- if config.get("incremental_strategy") == "service_dates" and config.get("materialized") == "incremental" %}
    {{ label }} ({{ config.get("meta", {}).get("date_column", "service_date") }})
    {%- endif %}
{%- endmacro %}
{% macro dbt_spark_validate_get_incremental_strategy(raw_strategy, file_format) %}
    {%- do return(raw_strategy) -%}
{% endmacro %}
{% macro dbt_spark_get_incremental_sql(strategy, source, target, existing, unique_key, incremental_predicates) %}
    {%- set columns = adapter.get_columns_in_relation(target) | map(attribute="quoted") | join(", ") -%}
    {%- if strategy == "service_dates" -%}
        {%- set meta = config.get("meta", {}) -%}
        {%- set column, around = meta.get("date_column", "service_date"), meta.get("days_around", 0) -%}
        {%- set day = modules.datetime.date.fromisoformat(first_built()) - modules.datetime.timedelta(around) -%}
        {%- set last = modules.datetime.date.fromisoformat(last_built()) + modules.datetime.timedelta(around) -%}
        {%- set dates = [] -%}
        {%- for number in range((last - day).days + 1) -%}
            {%- set date = day + modules.datetime.timedelta(number) -%}
            {%- do dates.append("partition (" ~ column ~ " = date '" ~ date ~ "')") -%}
        {%- endfor -%}
        {%- call statement("dates without rows") -%}
            alter table {{ target }} drop if exists {{ dates | join(", ") }}
        {%- endcall -%}
        insert into {{ target }} ({{ columns }}) select {{ columns }} from {{ source }}
    {%- else -%}
        {#- what is read cannot be overwritten -#}
        {%- set whole = target.incorporate(path={"identifier": target.identifier ~ "__whole"}) -%}
        {%- call statement("whole") -%}
            create or replace temporary view {{ whole.identifier }} as
            select {{ columns }} from {{ target }} where not coalesce(valid_to >= {{ first_instant() }}, true)
            union all
            select {{ columns }} from {{ source }}
        {%- endcall -%}
        {%- call statement("drop") -%}
            drop table if exists {{ whole }}
        {%- endcall -%}
        {%- call statement("copy") -%}
            create table {{ whole }} using parquet as select * from {{ whole.identifier }}
        {%- endcall -%}
        {%- call statement("overwrite") -%}
            insert overwrite table {{ target }} select {{ columns }} from {{ whole }}
        {%- endcall -%}
        drop table {{ whole }}
    {%- endif -%}
{% endmacro %}

{# The rows of a seed: the adapter's own macro writes a missing value as the text `None` and does not mask quotes. #}
{% macro spark__load_csv_rows(model, agate_table) %}
    {%- set types = model["config"].get("column_types", {}) -%}
    {%- set rows = [] -%}
    {%- for row in agate_table.rows -%}
        {%- set values = [] -%}
        {%- for name in agate_table.column_names -%}
            {%- set type = types.get(name, adapter.convert_type(agate_table, loop.index0)) -%}
            {%- set text = (row[name] | string).replace("\\", "\\\\").replace("'", "\\'") -%}
            {%- set value = "null" if row[name] is none else "'" ~ text ~ "'" -%}
            {%- do values.append("cast(" ~ value ~ " as " ~ type ~ ")") -%}
        {%- endfor -%}
        {%- do rows.append("(" ~ values | join(", ") ~ ")") -%}
    {%- endfor -%}
    {%- set sql = "insert into " ~ this ~ " values " ~ rows | join(", ") -%}
    {%- do adapter.add_query(sql, abridge_sql_log=True) -%}
    {{ return(sql) }}
{% endmacro %}
