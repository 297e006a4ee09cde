{# The episodes of the service status as intervals, once for each line or lift they name, as `named`, and with a null
   there if they name none: an episode lasts at least until the last answer with it, at most until the first later
   answer without it. #}
{% macro named_episodes() -%}
    (
        select
            *,
            {{ each_of('lines') }} as named,
            begun_before as from_at,
            ended_after as low_to_at,
            coalesce(ended_before, ended_after) as high_to_at
        from {{ ref('disruptions') }}
    )
{%- endmacro %}

{# Merges intervals that overlap or touch, so that no second counts twice: once with the lower bound of each end, and
   once with the upper one, as the column `bound` says. An interval that ends before it starts takes no time.

   relation: rows with the columns of `keys`, and from_at, low_to_at and high_to_at.
   also:     further aggregates of a merged interval, as SQL ending in a comma, or nothing. #}
{% macro merged_intervals(relation, keys, also="") -%}
    {%- set grain = (keys + ["bound"]) | join(", ") -%}
    select
        {{ grain }},
        {{ also }}
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
                {%- for bound in ["low", "high"] %}
                select
                    *,
                    '{{ bound }}' as bound,
                    {{ bound }}_to_at as to_at
                from {{ relation }}
                where {{ bound }}_to_at >= from_at
                {{ "union all" if not loop.last }}
                {%- endfor %}
            ) as bounds
        ) as steps
    ) as stretches
    group by {{ grain }}, stretch
{%- endmacro %}
