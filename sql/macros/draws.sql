{# A pseudo-random number of the standard normal distribution made of columns: the same columns give the same number.

   columns: between commas; each call with other columns gives a number of its own. #}
{% macro normal_draw(columns) -%}
    (
        sqrt(-2 * ln(1 - chance(concat_ws('|', {{ columns }}, 'radius'))))
        * cos(2 * pi() * chance(concat_ws('|', {{ columns }}, 'angle')))
    )
{%- endmacro %}
