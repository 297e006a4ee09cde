-- One row per call of known_times and hold-out: how long after the departure it is due. Hold-out 0 uses all that is
-- known.
-- Hold-out 1 hides known times of some departures, so that errors of the estimates can be measured (scheduled_calls).
-- An unknown time is learned from the departure of the leg that takes most nearly as long to the nearest stops before
-- and after at which both are known. Times learned from a departure that hardly differs are known in the second round.
-- Where there is none, it is interpolated by the usual travel times of the line.
with targets as (
    select
        calls.*,
        coalesce(calls.own_seconds, calls.earlier_seconds) as told_seconds,
        holdouts.holdout,
        -- of some departures all times are hidden, of others those of half of the stretches of eight stops
        holdouts.holdout = 1
        and (
            chance(concat_ws('|', calls.departure_key)) < parameters.schedule_holdout_share / 2
            or chance(concat_ws('|', calls.departure_key, {{ quotient('calls.position', 8) }})) < 0.5
        ) as is_hidden
    from {{ built('known_times') }} as calls
    cross join {{ ref('inference_parameters') }} as parameters
    inner join (values (0), (1)) as holdouts (holdout)
        on holdouts.holdout = 0 or chance(concat_ws('|', calls.departure_key)) < parameters.schedule_holdout_share
),

round_0 as (
    select
        *,
        coalesce(case when not is_hidden then told_seconds end, agreed_seconds) as known_seconds,
        cast(null as double) as difference_seconds,
        cast(null as double) as disagreed_seconds,
        told_seconds is not null as is_source,
        -- where only the origin is, or nothing, there is nothing to compare with other departures
        max(case when not is_hidden then told_seconds end) over (partition by departure_key, holdout)
            as last_told_seconds
    from targets
),
{% for round in [1, 2] %}
    {%- set before = "round_" ~ (round - 1) %}
    {%- set most = "parameters.pattern_same_seconds" ~ ("" if round == 1 else " + 86400") %}
    between_{{ round }} as (
        select
            *,
            {{ nearest_known({"known": "known_seconds", "position": "position"}, "known_seconds is not null") }}
        from {{ before }}
        window
            {{ windows_around("departure_key, holdout", "position") }}
    ),

    compared_{{ round }} as (
        select
            calls.departure_key,
            calls.position,
            calls.holdout,
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
            on
                others.departure_key = others_before.departure_key
                and others_before.holdout = 0
                and calls.position_before = others_before.position
        left join {{ before }} as others_after
            on
                others.departure_key = others_after.departure_key
                and others_after.holdout = 0
                and calls.position_after = others_after.position
        where
            calls.known_seconds is null
            and others.known_seconds is not null
            and others.is_source
            and others.holdout = 0
            and others.departure_key != calls.departure_key
            and (others_before.known_seconds is not null or others_after.known_seconds is not null)
    ),

    ranked_{{ round }} as (
        select
            *,
            case
                when other_seconds between other_before and other_after and other_after > other_before
                    then
                        known_before
                        + (known_after - known_before) * (other_seconds - other_before) / (other_after - other_before)
                when
                    other_after is null or abs(other_before - known_before) <= abs(other_after - known_after)
                    then known_before + other_seconds - other_before
                else known_after + other_seconds - other_after
            end as learned_seconds,
            row_number() over (
                partition by departure_key, position, holdout
                order by difference_seconds, other_departure_seconds, other_departure_key
            ) as nth
        from compared_{{ round }}
    ),

    learned_{{ round }} as (
        select
            departure_key,
            position,
            holdout,
            max(case when nth = 1 then difference_seconds end) as difference_seconds,
            max(case when nth = 1 then learned_seconds end) as learned_seconds,
            -- by how much the next one tells another time
            case
                when count(*) = 2 then max(learned_seconds) - min(learned_seconds)
                else max(parameters.pattern_unknown_seconds)
            end as disagreed_seconds
        from ranked_{{ round }}
        cross join {{ ref('inference_parameters') }} as parameters
        where nth <= 2
        group by departure_key, position, holdout
    ),

    round_{{ round }} as (
        select
            calls.* {{ exclude("known_seconds, difference_seconds, disagreed_seconds, is_source") }},
            coalesce(calls.known_seconds, learned.learned_seconds) as known_seconds,
            coalesce(calls.difference_seconds, learned.difference_seconds) as difference_seconds,
            coalesce(calls.disagreed_seconds, learned.disagreed_seconds) as disagreed_seconds,
            true as is_source
        from {{ before }} as calls
        cross join {{ ref('inference_parameters') }} as parameters
        left join learned_{{ round }} as learned
            on
                calls.departure_key = learned.departure_key
                and calls.position = learned.position
                and calls.holdout = learned.holdout
                and learned.difference_seconds <= {{ most }}
    ),
{% endfor %}
between_stops as (
    select
        *,
        {{ nearest_known({"known": "known_seconds", "travel": "travel_seconds"}, "known_seconds is not null") }}
    from round_2
    window
        {{ windows_around("departure_key, holdout", "position") }}
)

select
    departure_key,
    operator,
    service_date,
    line_code,
    direction,
    position,
    holdout,
    own_seconds,
    earlier_seconds,
    is_hidden,
    travel_seconds,
    case
        when own_seconds is not null and not is_hidden then 'own'
        when earlier_seconds is not null and not is_hidden then 'earlier'
        when difference_seconds is not null and last_told_seconds > 0 then 'learned'
        when difference_seconds is not null then 'copied'
        when known_seconds is not null then 'agreed'
        else 'travel'
    end as basis,
    -- how much the other departure differs, and what it tells from what the next one tells; or how far away the nearest
    -- stop is whose time is known, of two about the nearer one
    case
        when known_seconds is not null then coalesce(greatest(difference_seconds, disagreed_seconds), 0)
        when travel_before is null then coalesce(abs(travel_after - travel_seconds), travel_seconds)
        when travel_after is null then abs(travel_seconds - travel_before)
        else
            abs(travel_seconds - travel_before) * abs(travel_after - travel_seconds)
            / nullif(cast(abs(travel_after - travel_before) as double), 0)
    end as gap_seconds,
    case
        when known_seconds is not null then known_seconds
        when travel_after > travel_before
            then
                known_before
                + (known_after - known_before) * (travel_seconds - travel_before) / (travel_after - travel_before)
        when travel_before is not null then known_before + travel_seconds - travel_before
        when travel_after is not null then known_after - travel_after + travel_seconds
        else travel_seconds
    end as running_seconds
from between_stops
