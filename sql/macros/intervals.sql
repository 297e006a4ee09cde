{# Merges intervals that overlap or touch, so that no second counts twice.

   relation: rows with the columns of `keys`, and from_at and to_at (from_at <= to_at).
   also:     further aggregates of a merged interval, as SQL ending in a comma, or nothing. #}
{% macro merged_intervals(relation, keys, also="") -%}
    select
        {{ keys | join(", ") }},
        {{ also }}
        min(from_at) as from_at,
        max(to_at) as to_at
    from (
        select
            *,
            sum(is_apart) over (
                partition by {{ keys | join(", ") }}
                order by from_at, to_at, is_apart desc rows between unbounded preceding and current row
            ) as stretch
        from (
            select
                *,
                case
                    when
                        from_at <= max(to_at) over (
                            partition by {{ keys | join(", ") }}
                            order by from_at, to_at rows between unbounded preceding and 1 preceding
                        ) then 0
                    else 1
                end as is_apart
            from {{ relation }}
        ) as steps
    ) as stretches
    group by {{ keys | join(", ") }}, stretch
{%- endmacro %}
