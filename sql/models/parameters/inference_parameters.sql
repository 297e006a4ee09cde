-- One row per set of parameters, of which there is one: the values in `parameters.yml`.
{%- set values = [] -%}
{%- for column in model.columns.values() -%}
    {%- set type = column.data_type or "integer" -%}
    {%- do values.append("cast(" ~ column.config.meta.value ~ " as " ~ type ~ ") as " ~ column.name) -%}
{%- endfor %}
select {{ values | join(", ") }}
