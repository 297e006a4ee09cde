{# A pseudo-random number of the standard Gumbel distribution, less its mean (Euler's constant), made of columns.

   columns: between commas; the same columns give the same number. #}
{% macro gumbel_draw(columns) -%}
    (-ln(-ln(({{ chance(columns) }} + 1e-12) / (1 + 2e-12))) - 0.577216)
{%- endmacro %}

{# A pseudo-random number of the standard normal distribution made of columns: the same columns give the same number.

   columns: between commas; each call with other columns gives a number of its own. #}
{% macro normal_draw(columns) -%}
    (
        sqrt(-2 * ln(1 - {{ chance(columns ~ ", 'radius'") }}))
        * cos(2 * pi() * {{ chance(columns ~ ", 'angle'") }})
    )
{%- endmacro %}
