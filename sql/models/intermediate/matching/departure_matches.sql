-- One row per operator, service_date and matched trip: the scheduled departure it runs as, and how sure that is.
-- Per line and direction, one to one. Trips whose timetable times tell no departure share out those that are left, the
-- pairs that fit best first; one that may as well run as another has none. Timetable rows without an id stand for the
-- departures that no bus took.
with departures as (
    select * from {{ numbered_departures() }} as numbered
),

pairs as (
    select
        pairs.*,
        rules.match_live_seconds,
        rules.match_cost_seconds,
        rules.match_doubt_seconds
    from {{ ref('departure_pairs') }} as pairs
    {{ join_rules('pairs.service_date') }}
    where {{ is_built('pairs.service_date') }}
),

likely_pairs as (
    select *
    from pairs
    where cost_seconds <= match_cost_seconds
),
{% for round in range(1, 6) %}
    round_{{ round }} as (
    -- those that are each other's best of what the rounds before left
        select *
        from (
            select
                pairs.*,
                row_number() over (
                    partition by pairs.operator, pairs.service_date, pairs.trip_id
                    order by pairs.cost_seconds, pairs.departure_at, pairs.place
                ) as nth_for_trip,
                row_number() over (
                    partition by
                        pairs.operator, pairs.service_date, pairs.line_code, pairs.direction, pairs.departure_at,
                        pairs.leg, pairs.place
                    order by pairs.cost_seconds, pairs.left_at, pairs.trip_id
                ) as nth_for_departure
            from
                likely_pairs as pairs
            {%- for before in range(1, round) %}
            left join round_{{ before }} as trip_{{ before }}
                on
                    pairs.operator = trip_{{ before }}.operator
                    and pairs.service_date = trip_{{ before }}.service_date
                    and pairs.trip_id = trip_{{ before }}.trip_id
            left join round_{{ before }} as departure_{{ before }}
                on
                    pairs.operator = departure_{{ before }}.operator
                    and pairs.service_date = departure_{{ before }}.service_date
                    and pairs.line_code = departure_{{ before }}.line_code
                    and pairs.direction = departure_{{ before }}.direction
                    and pairs.departure_at = departure_{{ before }}.departure_at
                    and pairs.leg = departure_{{ before }}.leg
                    and pairs.place = departure_{{ before }}.place
            {%- endfor %}
            where
                true
                {%- for before in range(1, round) %}
                    and trip_{{ before }}.trip_id is null
                    and departure_{{ before }}.trip_id is null
                {%- endfor %}
        ) as ranked
        where nth_for_trip = 1 and nth_for_departure = 1
    ),
{% endfor %}
found as (
    {%- for round in range(1, 6) %}
        {{ 'union all' if not loop.first }}
        select * from round_{{ round }}
    {%- endfor %}
),

swaps as (
    -- two that would both be better off with each other's departure
    select *
    from (
        select
            *,
            row_number() over (
                partition by operator, service_date, trip_id order by change_seconds, other_trip_id
            ) as nth
        from {{ exchanges("found") }} as exchanges
        where change_seconds < 0 and other_trip_id is not null and leg = own_leg
    ) as ranked
    where nth = 1
),

shared_out as (
    select
        found.operator,
        found.service_date,
        found.trip_id,
        found.line_code,
        found.direction,
        found.leg,
        found.origin_position,
        coalesce(swaps.departure_at, found.departure_at) as departure_at,
        coalesce(swaps.place, found.place) as place,
        found.left_at,
        coalesce(swaps.cost_seconds, found.cost_seconds) as cost_seconds,
        found.match_live_seconds,
        found.match_doubt_seconds,
        found.ruleset_version
    from found
    left join (
        select swaps.*
        from swaps
        inner join swaps as partners
            on
                swaps.operator = partners.operator
                and swaps.service_date = partners.service_date
                and swaps.trip_id = partners.other_trip_id
                and swaps.other_trip_id = partners.trip_id
    ) as swaps
        on
            found.operator = swaps.operator
            and found.service_date = swaps.service_date
            and found.trip_id = swaps.trip_id
),

doubts as (
    -- trips that may as well run as another departure: one that is left, or that of a trip that may as well run as
    -- theirs
    select distinct
        operator,
        service_date,
        trip_id
    from {{ exchanges("shared_out") }} as exchanges
    where change_seconds < match_doubt_seconds
),

matched as (
    select
        operator,
        service_date,
        trip_id,
        line_code,
        direction,
        leg,
        origin_position,
        departure_at,
        place,
        due_at,
        basis,
        match_score,
        ruleset_version
    from {{ ref('told_departures') }}
    where {{ is_built() }}
    union all
    select
        operator,
        service_date,
        trip_id,
        line_code,
        direction,
        leg,
        origin_position,
        departure_at,
        place,
        left_at as due_at,
        'live' as basis,
        0.6 / (1 + cost_seconds / match_live_seconds) as match_score,
        ruleset_version
    from shared_out
    where
        not exists (
            select 1
            from doubts
            where
                shared_out.operator = doubts.operator
                and shared_out.service_date = doubts.service_date
                and shared_out.trip_id = doubts.trip_id
        )
),

run as (
    select * from matched
    union all
    select
        stand_ins.operator,
        stand_ins.service_date,
        {{ stand_in_trip('stand_ins') }} as trip_id,
        stand_ins.line_code,
        stand_ins.direction,
        stand_ins.leg,
        null as origin_position,
        stand_ins.departure_at,
        1 as place,
        stand_ins.departure_at as due_at,
        'stand_in' as basis,
        0.5 as match_score,
        max(rules.ruleset_version) as ruleset_version
    from {{ ref('stand_in_departures') }} as stand_ins
    {{ join_rules('stand_ins.service_date') }}
    left join matched
        on
            stand_ins.operator = matched.operator
            and stand_ins.service_date = matched.service_date
            and stand_ins.line_code = matched.line_code
            and stand_ins.direction = matched.direction
            and stand_ins.leg = matched.leg
            and stand_ins.departure_at = matched.departure_at
    where matched.trip_id is null and {{ is_built('stand_ins.service_date') }}
    group by
        stand_ins.operator, stand_ins.service_date, stand_ins.line_code, stand_ins.direction, stand_ins.leg,
        stand_ins.departure_at
)

select
    matched.operator,
    matched.service_date,
    matched.trip_id,
    matched.line_code,
    matched.direction,
    matched.leg,
    matched.origin_position,
    departures.service_code,
    departures.departure_at,
    departures.duplicate_number,
    departures.valid_from as departure_valid_from,
    matched.due_at,
    matched.basis,
    matched.match_score,
    matched.ruleset_version
from run as matched
inner join departures
    on
        matched.operator = departures.operator
        and matched.service_date = departures.service_date
        and matched.line_code = departures.line_code
        and matched.direction = departures.direction
        and matched.departure_at = departures.departure_at
        and matched.leg = departures.leg
        and matched.place = departures.place
