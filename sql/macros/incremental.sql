{# Replace all rows of the service dates being built, also of those for which the query has no row any more.
   A model keyed by the UTC day of receipt says so in its meta, and also replaces the days around them. #}
{% macro get_incremental_service_dates_sql(arg_dict) %}
    {%- set columns = get_quoted_csv(arg_dict["dest_columns"] | map(attribute="name")) -%}
    {%- set meta = config.get("meta", {}) -%}
    {%- set around = meta.get("days_around", 0) -%}
    delete from {{ arg_dict["target_relation"] }}
    where {{ is_received_around(meta.get("date_column", "service_date"), around, around) }};

    insert into {{ arg_dict["target_relation"] }} ({{ columns }})
    select {{ columns }} from {{ arg_dict["temp_relation"] }}
{% endmacro %}

{# The first and the last service date to rebuild, and the data folder. They are read when models are compiled, not when
   they are parsed, so that dbt need not parse the project again for another date. #}
{% macro first_built() -%}
    {{ env_var("BUILD_FROM", "1970-01-01") if execute else "1970-01-01" }}
{%- endmacro %}
{% macro last_built() -%}
    {{ env_var("BUILD_TO", "9999-12-29") if execute else "9999-12-29" }}
{%- endmacro %}
{% macro data_folder() -%}
    {{ env_var("BUILD_DATA", "data") if execute else "data" }}
{%- endmacro %}

{# True for the service dates being built. #}
{% macro is_built(column="service_date") -%}
    {{ column }} between cast('{{ first_built() }}' as date) and cast('{{ last_built() }}' as date)
{%- endmacro %}

{# The rows that a model has for the service dates being built, as a relation. #}
{% macro built(model) -%}
    (select * from {{ ref(model) }} where {{ is_built() }})
{%- endmacro %}

{# True for dates around the service dates being built: the UTC days of receipt whose answers can be about them. In the
   time zones farthest from UTC a service day begins one UTC day early or ends one late. #}
{% macro is_received_around(column="received_date", days_before=1, days_after=1) -%}
    {{ column }} between cast('{{ first_built() }}' as date) - {{ days_before }}
        and cast('{{ last_built() }}' as date) + {{ days_after }}
{%- endmacro %}

{# The first instant at which answers about the service dates being built can have been received. A model of validity
   keeps what it has of the time before it, and computes the time from it on again, up to the last answer. #}
{% macro first_instant() -%}
    cast(cast('{{ first_built() }}' as date) - 1 as timestamp)
{%- endmacro %}

{# True for answers that a model of validity has to read: all in a full build, else those from first_instant() on. #}
{% macro is_continued() -%}
    {%- if is_incremental() -%}
        received_date >= cast('{{ first_built() }}' as date) - 1
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{# Replace the rows valid at first_instant() or later; those that ended before it stay. #}
{% macro get_incremental_validity_sql(arg_dict) %}
    {%- set columns = get_quoted_csv(arg_dict["dest_columns"] | map(attribute="name")) -%}
    delete from {{ arg_dict["target_relation"] }}
    where coalesce(valid_to >= {{ first_instant() }}, true);

    insert into {{ arg_dict["target_relation"] }} ({{ columns }})
    select {{ columns }} from {{ arg_dict["temp_relation"] }}
{% endmacro %}
