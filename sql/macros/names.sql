{# A model's schema is what its configuration says, exactly: no prefix for who builds it. A variant, built under another
   ruleset or as of another instant, has schemas of its own (`marts_ruleset_2`); seeds and quality stay shared. #}
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
{% macro source() %}
    {% do return(builtins.source(*varargs, **kwargs).include(database=false)) %}
{% endmacro %}

{# Upstream's identifier of a trip, in quotes where it could be taken for one of ours: those of anonymous rows begin with
   `@`, those of further trips end in `~2`. #}
{% macro listed_id_of(trip_id) -%}
    case
        when {{ trip_id }} like '@%' or {{ trip_id }} like '"%' or {{ trip_id }} like '%~%'
            then '"' || {{ trip_id }} || '"'
        else {{ trip_id }}
    end
{%- endmacro %}

{# Upstream's identifier again. #}
{% macro trip_id_of(listed_id) -%}
    case
        when {{ listed_id }} like '"%' then substr({{ listed_id }}, 2, length({{ listed_id }}) - 2)
        else {{ listed_id }}
    end
{%- endmacro %}

{# The id of a trip that only anonymous rows announced: one per departure. #}
{% macro anonymous_trip_id(departure) -%}
    '@' || replace({{ departure }}.line_code, '@', '@@') || '@' || {{ departure }}.direction || '@'
    || {{ departure }}.leg || '@' || cast({{ departure }}.departure_at as string)
{%- endmacro %}

{# The id of a departure of the timetable, the same on every date that has it: line, direction, service, a digest of the
   leg, the time of the service day, and a number where a timetable lists it twice. #}
{% macro scheduled_trip_id(departure) -%}
    {%- set seconds = departure ~ ".service_seconds" -%}
    concat_ws(
        '_',
        {{ departure }}.line_code,
        {{ departure }}.direction,
        coalesce({{ departure }}.service_code, ''),
        substr(md5({{ departure }}.leg), 1, 4),
        {{ clock_time(seconds) }},
        {{ departure }}.duplicate_number
    )
{%- endmacro %}

{# The id of a trip, unique over all dates. #}
{% macro performed_trip_id(trip) -%}
    replace(cast({{ trip }}.service_date as string), '-', '') || '_' || {{ trip }}.trip_id
{%- endmacro %}

{# Seconds of the service day as hours, minutes and seconds; the hours go on after midnight. #}
{% macro clock_time(seconds) -%}
    concat_ws(
        ':',
        lpad(cast({{ quotient(seconds, 3600) }} as string), 2, '0'),
        lpad(cast({{ quotient(seconds, 60) }} % 60 as string), 2, '0'),
        lpad(cast({{ seconds }} % 60 as string), 2, '0')
    )
{%- endmacro %}

{# Of the keys under which an answer lists the stops of a line, the one that a direction is published by: every key but
   `andata` is `inbound`, and two ways would mix. #}
{% macro published_direction_key() -%}
    first_value(direction_key) over (
        partition by operator, request_id, line_code, direction
        order by case when direction_key = 'ritorno' then 0 else 1 end, direction_key
    )
{%- endmacro %}

{# The label that stops show for a line number, without its slash. #}
{% macro plain_label_of(line_number) -%}
    replace(normal_label({{ line_number }}), '/', '')
{%- endmacro %}
