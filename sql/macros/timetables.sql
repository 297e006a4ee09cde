{# The class of the notice that a change gave: `after_the_fact`, `under_24_h`, `under_7_days` or `longer`; null where the
   shortest and the longest possible notice are of different classes.

   low, high: the seconds of notice at least and at most; null where there is no bound. #}
{% macro notice_class(low, high) -%}
    case
        when {{ high }} <= 0 then 'after_the_fact'
        when {{ low }} > 0 and {{ high }} < 86400 then 'under_24_h'
        when {{ low }} >= 86400 and {{ high }} < 604800 then 'under_7_days'
        when {{ low }} >= 604800 then 'longer'
    end
{%- endmacro %}

{# The legs that were renamed, by what they were called before, as a subquery with the columns of `keys`, leg_before and
   leg_after. A leg was renamed if all its departures that stayed have one other leg now, and none still has it.

   stayed:  relation of departures that stayed, with the columns of `keys`, leg_before and leg.
   lasting: relation with the columns of `keys` and leg: the legs that there still are. #}
{% macro renamed_legs(stayed, lasting, keys) -%}
    {%- set group = "stayed." ~ keys | join(", stayed.") -%}
    (
        select
            {{ group }},
            stayed.leg_before,
            min(stayed.leg) as leg_after
        from {{ stayed }} as stayed
        left join {{ lasting }} as lasting
            on
                stayed.leg_before = lasting.leg
                {%- for key in keys %}
                and stayed.{{ key }} = lasting.{{ key }}
                {%- endfor %}
        where lasting.leg is null and stayed.leg_before != stayed.leg
        group by {{ group }}, stayed.leg_before
        having count(distinct stayed.leg) = 1
    )
{%- endmacro %}

{# Pairs of removed and added departures that are one which moved, as the relation `moves` with the columns of `keys`,
   removed_id, added_id, added_at and moved_seconds. Both have the same keys and are no further apart than the tolerance,
   each is in one pair at most, and the sum of the differences is least: of equal sums the one of even differences, which
   keeps the order of departures. `pairs` holds all that are near enough; is_only_pair is true of one where neither
   departure has another to have moved from or to.

   removed, added: relations with the columns of `keys`, departure_key and departure_at.
   condition:      what else holds of a pair of `removed` and `added`.
   handicap:       seconds that a pair counts as further apart, well below one: it decides between equal sums. #}
{% macro moved_departures(removed, added, keys, condition="true", handicap="0") -%}
    {%- set group = keys | join(", ") -%}
    pairs as (
        select
            *,
            dense_rank() over (partition by {{ group }} order by removed_at, removed_id) as removed_number,
            dense_rank() over (partition by {{ group }} order by added_at, added_id) as added_number,
            row_number() over (
                partition by {{ group }} order by removed_at, removed_id, added_at, added_id
            ) as pair_number,
            count(*) over (partition by {{ group }}, removed_id) = 1
            and count(*) over (partition by {{ group }}, added_id) = 1 as is_only_pair
        from (
            select
                {{ group }},
                removed.departure_key as removed_id,
                removed.departure_at as removed_at,
                added.departure_key as added_id,
                added.departure_at as added_at,
                cast(round(seconds_between(removed.departure_at, added.departure_at)) as bigint) as moved_seconds,
                {{ handicap }} as handicap_seconds,
                moved_tolerance_seconds
            from {{ removed }} as removed
            cross join {{ ref('inference_parameters') }} as parameters
            inner join {{ added }} as added using ({{ group }})
            where {{ condition }}
        ) as near
        where abs(moved_seconds) <= moved_tolerance_seconds
    ),

    moves as (
        select pairs.*
        from pairs
        inner join (
            select
                {{ group }},
                {{ each_of(
                    least_cost_pairs(
                        "removed_number",
                        "added_number",
                        "abs(moved_seconds) + power(moved_seconds, 2) / 100000000 + handicap_seconds",
                        "pair_number",
                        "2 * max(moved_tolerance_seconds)"
                    )
                ) }} as pair_number
            from pairs
            group by {{ group }}
        ) as chosen using ({{ group }}, pair_number)
    )
{%- endmacro %}
