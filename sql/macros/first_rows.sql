{# The first row of each group of a relation, with the columns of the relation and `nth`, which is 1.

   keys:     the columns of the group.
   in_order: what its rows are ordered by. #}
{% macro first_rows(relation, keys, in_order) -%}
    (
        select *
        from (
            select
                *,
                row_number() over (partition by {{ keys | join(", ") }} order by {{ in_order }}) as nth
            from {{ relation }}
        ) as numbered
        where nth = 1
    )
{%- endmacro %}
