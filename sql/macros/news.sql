{# The form of a line number as it stands in a text: `18`, `17/`, `N1`, `607R`. #}
{% macro line_label_form() -%}
    [A-Z]{0,3}[0-9]{1,4}[A-Z]{0,2}/?
{%- endmacro %}
