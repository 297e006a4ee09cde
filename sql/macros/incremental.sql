{# Replace the service dates being built, whole: those that no longer have a row lose their old ones too.
   A model keyed by the UTC day of receipt says so in its meta, and replaces the days around. #}
{% macro get_incremental_service_dates_sql(arg_dict) %}
    {%- set columns = get_quoted_csv(arg_dict["dest_columns"] | map(attribute="name")) -%}
    {%- set meta = config.get("meta", {}) -%}
    {%- set around = meta.get("days_around", 0) -%}
    delete from {{ arg_dict["target_relation"] }}
    where {{ is_received_around(meta.get("date_column", "service_date"), around, around) }};

    insert into {{ arg_dict["target_relation"] }} ({{ columns }})
    select {{ columns }} from {{ arg_dict["temp_relation"] }}
{% endmacro %}

{# The first and the last service date to rebuild, and the data folder. They are known from when models are compiled,
   not from when they are parsed: what dbt has parsed for one date serves the builds of all others. #}
{% macro first_built() -%}
    {{ env_var("BUILD_FROM", "1970-01-01") if execute else "1970-01-01" }}
{%- endmacro %}
{% macro last_built() -%}
    {{ env_var("BUILD_TO", "9999-12-29") if execute else "9999-12-29" }}
{%- endmacro %}
{% macro data_folder() -%}
    {{ env_var("BUILD_DATA", "data") if execute else "data" }}
{%- endmacro %}

{# True for the service dates that this build replaces. #}
{% macro is_built(column="service_date") -%}
    {{ column }} between cast('{{ first_built() }}' as date) and cast('{{ last_built() }}' as date)
{%- endmacro %}

{# True for lake files that can hold rows about the service dates being built: UTC days of receipt around them.
   The widest zones begin a service day one UTC day early or end it one late. #}
{% macro is_received_around(column="received_date", days_before=1, days_after=1) -%}
    {{ column }} between cast('{{ first_built() }}' as date) - {{ days_before }}
        and cast('{{ last_built() }}' as date) + {{ days_after }}
{%- endmacro %}

{# The first instant that answers about the service dates being built can have been received at. What a model of
   validity says of the time before it stands; from there on it is worked out again, to the last answer there is. #}
{% macro first_instant() -%}
    cast(cast('{{ first_built() }}' as date) - 1 as timestamp)
{%- endmacro %}

{# True for answers a model of validity has to read: all of them at first, later those from first_instant() on. #}
{% macro is_continued() -%}
    {%- if is_incremental() -%}
        received_date >= cast('{{ first_built() }}' as date) - 1
    {%- else -%}
        true
    {%- endif -%}
{%- endmacro %}

{# Replace what stood at first_instant() or began later; what had ended before it stays. #}
{% macro get_incremental_validity_sql(arg_dict) %}
    {%- set columns = get_quoted_csv(arg_dict["dest_columns"] | map(attribute="name")) -%}
    delete from {{ arg_dict["target_relation"] }}
    where coalesce(valid_to >= {{ first_instant() }}, true);

    insert into {{ arg_dict["target_relation"] }} ({{ columns }})
    select {{ columns }} from {{ arg_dict["temp_relation"] }}
{% endmacro %}
