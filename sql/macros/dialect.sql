{# Every place where databases differ. The defaults are DuckDB's; dispatch the rest elsewhere. #}

{# The lake's files of a dataset, with the day of receipt from their path. #}
{% macro lake(dataset) -%}
    {{ adapter.dispatch("lake", "transit")(dataset) }}
{%- endmacro %}
{% macro default__lake(dataset) -%}
    read_parquet(
        '{{ var("data_dir") | replace("'", "''") }}/lake/operator=*/dataset={{ dataset }}/date=*/*.parquet',
        hive_partitioning = true, hive_types_autocast = false, union_by_name = true
    )
{%- endmacro %}

{# Seconds from one instant to another, with their fraction. #}
{% macro seconds_between(first, second) -%}
    {{ adapter.dispatch("seconds_between", "transit")(first, second) }}
{%- endmacro %}
{% macro default__seconds_between(first, second) -%}
    (epoch_us({{ second }}) - epoch_us({{ first }})) / 1000000.0
{%- endmacro %}

{# An instant moved by a number of seconds. #}
{% macro add_seconds(instant, seconds) -%}
    ({{ instant }} + {{ seconds }} * interval '1 second')
{%- endmacro %}

{# The keys of a JSON object kept as text, as a list. #}
{% macro json_keys_of(column) -%}
    {{ adapter.dispatch("json_keys_of", "transit")(column) }}
{%- endmacro %}
{% macro default__json_keys_of(column) -%}
    json_keys({{ column }})
{%- endmacro %}

{# Letters and digits only, upper case: destinations come with missing spaces, dots and apostrophes. #}
{% macro plain_text(column) -%}
    {{ adapter.dispatch("plain_text", "transit")(column) }}
{%- endmacro %}
{% macro default__plain_text(column) -%}
    regexp_replace(upper(strip_accents({{ column }})), '[^A-Z0-9]', '', 'g')
{%- endmacro %}

{# How alike two plain texts are, 0 to 1; one inside the other counts 0.9, a faint likeness nothing. #}
{% macro likeness(first, second) -%}
    {{ adapter.dispatch("likeness", "transit")(first, second) }}
{%- endmacro %}
{% macro default__likeness(first, second) -%}
    case
        when {{ first }} = '' or {{ second }} = '' then 0.0
        when {{ first }} = {{ second }} then 1.0
        when contains({{ first }}, {{ second }}) or contains({{ second }}, {{ first }}) then 0.9
        when jaro_winkler_similarity({{ first }}, {{ second }}) >= 0.88 then 0.8
        else 0.0
    end
{%- endmacro %}

{# A line number or label without padding: `018` and `18`, `N1 ` and `n1` are one. #}
{% macro plain_label(column) -%}
    {{ adapter.dispatch("plain_label", "transit")(column) }}
{%- endmacro %}
{% macro default__plain_label(column) -%}
    regexp_replace(upper(trim({{ column }})), '^0+(.)', '\1')
{%- endmacro %}

{# An instant as whole microseconds, for arithmetic that is the same in every run. #}
{% macro microseconds(instant) -%}
    {{ adapter.dispatch("microseconds", "transit")(instant) }}
{%- endmacro %}
{% macro default__microseconds(instant) -%}
    epoch_us({{ instant }})
{%- endmacro %}

{# The n-th part of a text between separators, counted from 1. #}
{% macro part(column, separator, n) -%}
    {{ adapter.dispatch("part", "transit")(column, separator, n) }}
{%- endmacro %}
{% macro default__part(column, separator, n) -%}
    split_part({{ column }}, '{{ separator }}', {{ n }})
{%- endmacro %}

{# A list as one text, sorted, so that the order upstream happened to use does not matter. #}
{% macro sorted_text(list) -%}
    {{ adapter.dispatch("sorted_text", "transit")(list) }}
{%- endmacro %}
{% macro default__sorted_text(list) -%}
    array_to_string(list_sort({{ list }}), ', ')
{%- endmacro %}

{# The n-th smallest value of a group, n up to 8; null if there are fewer. #}
{% macro nth_smallest(column, n) -%}
    {{ adapter.dispatch("nth_smallest", "transit")(column, n) }}
{%- endmacro %}
{% macro default__nth_smallest(column, n) -%}
    (min({{ column }}, 8))[{{ n }}]
{%- endmacro %}
