-- One row per scheduled call whose time is not known: how long after the departure it was, learned from another one.
-- That is the departure of the leg that takes most nearly as long to the nearest stops before and after at which both
-- are known. Times learned from a departure that hardly differs are known in the second round.
with round_0 as (
    select
        departure_key,
        operator,
        service_date,
        line_code,
        direction,
        leg,
        departure_seconds,
        position,
        known_seconds,
        own_seconds is not null as is_source
    from {{ built('scheduled_calls') }}
),
{% for round in [1, 2] %}
    {%- set before = "round_" ~ (round - 1) %}
    between_{{ round }} as (
        select
            *,
            {{ nearest_known({"known": "known_seconds", "position": "position"}, "known_seconds is not null") }}
        from {{ before }}
        window
            before as (partition by departure_key order by position rows between unbounded preceding and 1 preceding),
            after as (partition by departure_key order by position rows between 1 following and unbounded following)
    ),

    compared_{{ round }} as (
        select
            calls.departure_key,
            calls.position,
            calls.known_before,
            calls.known_after,
            others.known_seconds as other_seconds,
            others_before.known_seconds as other_before,
            others_after.known_seconds as other_after,
            others.departure_seconds as other_departure_seconds,
            others.departure_key as other_departure_key,
            abs(calls.departure_seconds - others.departure_seconds) / 3600 * parameters.pattern_hour_seconds
            + coalesce(
                abs(others_before.known_seconds - calls.known_before),
                case when calls.known_before is not null then parameters.pattern_unknown_seconds end,
                0
            )
            + coalesce(
                abs(others_after.known_seconds - calls.known_after),
                case when calls.known_after is not null then parameters.pattern_unknown_seconds end,
                0
            ) as difference_seconds
        from between_{{ round }} as calls
        cross join {{ ref('inference_parameters') }} as parameters
        inner join {{ before }} as others
            using (operator, service_date, line_code, direction, leg, position)
        left join {{ before }} as others_before
            on others.departure_key = others_before.departure_key and calls.position_before = others_before.position
        left join {{ before }} as others_after
            on others.departure_key = others_after.departure_key and calls.position_after = others_after.position
        where
            calls.known_seconds is null
            and others.known_seconds is not null
            and others.is_source
            and (others_before.known_seconds is not null or others_after.known_seconds is not null)
    ),

    learned_{{ round }} as (
        select
            departure_key,
            position,
            difference_seconds,
            case
                when other_seconds between other_before and other_after and other_after > other_before
                    then
                        known_before
                        + (known_after - known_before) * (other_seconds - other_before) / (other_after - other_before)
                when
                    other_after is null or abs(other_before - known_before) <= abs(other_after - known_after)
                    then known_before + other_seconds - other_before
                else known_after + other_seconds - other_after
            end as learned_seconds
        from (
            select
                *,
                row_number() over (
                    partition by departure_key, position
                    order by difference_seconds, other_departure_seconds, other_departure_key
                ) as nth
            from compared_{{ round }}
        ) as ranked
        where nth = 1
    ),

    round_{{ round }} as (
        select
            calls.departure_key,
            calls.operator,
            calls.service_date,
            calls.line_code,
            calls.direction,
            calls.leg,
            calls.departure_seconds,
            calls.position,
            coalesce(
                calls.known_seconds,
                case when learned.difference_seconds <= parameters.pattern_same_seconds then learned.learned_seconds end
            ) as known_seconds,
            true as is_source
        from {{ before }} as calls
        cross join {{ ref('inference_parameters') }} as parameters
        left join learned_{{ round }} as learned using (departure_key, position)
    ),
{% endfor %}
learned as (
    select learned_1.*
    from learned_1
    cross join {{ ref('inference_parameters') }} as parameters
    where learned_1.difference_seconds <= parameters.pattern_same_seconds
    union all
    select * from learned_2
)

select
    calls.departure_key,
    calls.operator,
    calls.service_date,
    calls.position,
    learned.difference_seconds,
    learned.learned_seconds
from {{ built('scheduled_calls') }} as calls
inner join learned using (departure_key, position)
