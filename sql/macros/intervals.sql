{# Merges intervals that overlap or touch, so that no second counts twice: once those that are certain, and once those that
   are possible, as the column `bound` (`low`, `high`) says. An interval that ends before it starts takes no time.

   relation: rows with the columns of `keys`, and for each of the bounds its _from and _to, such as low_from and low_to. #}
{% macro merged_intervals(relation, keys, bounds=["low", "high"]) -%}
    {%- set grain = (keys + ["bound"]) | join(", ") -%}
    select
        {{ grain }},
        min(from_at) as from_at,
        max(to_at) as to_at
    from (
        select
            *,
            sum(is_apart) over (
                partition by {{ grain }}
                order by from_at, to_at, is_apart desc rows between unbounded preceding and current row
            ) as stretch
        from (
            select
                *,
                case
                    when
                        from_at <= max(to_at) over (
                            partition by {{ grain }}
                            order by from_at, to_at rows between unbounded preceding and 1 preceding
                        ) then 0
                    else 1
                end as is_apart
            from (
                {%- for bound in bounds %}
                select
                    {{ keys | join(", ") }},
                    '{{ bound }}' as bound,
                    {{ bound }}_from as from_at,
                    {{ bound }}_to as to_at
                from {{ relation }}
                where {{ bound }}_to > {{ bound }}_from
                {{ "union all" if not loop.last }}
                {%- endfor %}
            ) as bounds
        ) as steps
    ) as stretches
    group by {{ grain }}, stretch
{%- endmacro %}

{# The 97.5 % quantile of Student's t distribution with so many degrees of freedom: within 0.04 of it for 2, within 0.005
   for more, by the expansion of Cornish and Fisher. #}
{% macro t_quantile(freedom) -%}
    {%- set n = "cast(" ~ freedom ~ " as double)" -%}
    (1.95996 + 2.37227 / {{ n }} + 2.82250 / ({{ n }} * {{ n }}) + 2.55585 / ({{ n }} * {{ n }} * {{ n }})
    + 1.58948 / ({{ n }} * {{ n }} * {{ n }} * {{ n }}))
{%- endmacro %}

{# Of each operator and service date, from when to when its hours that are over lasted, as a relation. #}
{% macro service_date_spans() -%}
    (
        select
            operator,
            service_date,
            min(from_at) as from_at,
            max(to_at) as to_at
        from {{ ref('service_hours') }}
        group by operator, service_date
    )
{%- endmacro %}
