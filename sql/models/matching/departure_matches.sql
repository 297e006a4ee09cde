-- One row per operator, service_date and matched trip: the scheduled departure it runs as, and how sure that is.
-- Per leg, one to one: first by timetable times; then the free departures by least cost among the trips only seen live,
-- where a trip that might as well run as another departure gets none; then departures that only anonymous rows
-- announced, each with a trip id of its own.
with pairs as (
    select
        costs.*,
        parameters.match_score_seconds,
        parameters.match_max_cost_seconds,
        parameters.match_ambiguity_seconds
    from {{ built('live_match_costs') }} as costs
    cross join {{ ref('inference_parameters') }} as parameters
),

likely_pairs as (
    select *
    from pairs
    where cost_seconds <= match_max_cost_seconds
),
{% for round in range(1, 6) %}
    round_{{ round }} as (
    -- the pairs in which each is the other's best, of those that earlier rounds left
        select *
        from (
            select
                pairs.*,
                row_number() over (
                    partition by pairs.trip_key
                    order by pairs.cost_seconds, pairs.departure_at, pairs.slot_number
                ) as nth_for_trip,
                row_number() over (
                    partition by pairs.departure_key
                    order by pairs.cost_seconds, pairs.left_at, pairs.trip_id
                ) as nth_for_departure
            from
                likely_pairs as pairs
            {%- for before in range(1, round) %}
                left join round_{{ before }} as trip_{{ before }} on pairs.trip_key = trip_{{ before }}.trip_key
                left join round_{{ before }} as departure_{{ before }}
                    on pairs.departure_key = departure_{{ before }}.departure_key
            {%- endfor %}
            where
                true
                {%- for before in range(1, round) %}
                    and trip_{{ before }}.trip_key is null
                    and departure_{{ before }}.trip_key is null
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
    -- for each trip the exchange of departures with another trip of the leg that lowers the cost most
    select *
    from (
        select
            *,
            row_number() over (partition by trip_key order by change_seconds, other_trip_id) as nth
        from {{ exchanges("found") }} as exchanges
        where change_seconds < 0 and other_trip_key is not null and leg = own_leg
    ) as ranked
    where nth = 1
),

live_matches as (
    select
        found.trip_key,
        found.operator,
        found.service_date,
        found.trip_id,
        found.line_code,
        found.direction,
        found.leg,
        found.origin_position,
        found.left_at,
        found.match_score_seconds,
        found.match_ambiguity_seconds,
        coalesce(swaps.departure_key, found.departure_key) as departure_key,
        coalesce(swaps.departure_at, found.departure_at) as departure_at,
        coalesce(swaps.cost_seconds, found.cost_seconds) as cost_seconds
    from found
    left join (
        -- only where the other trip's best exchange is with this one
        select swaps.*
        from swaps
        inner join swaps as partners
            on swaps.trip_key = partners.other_trip_key and swaps.other_trip_key = partners.trip_key
    ) as swaps
        using (trip_key)
),

ambiguous as (
    -- trips that might as well run as another departure: a free one, or that of a trip that might as well run as theirs
    select distinct trip_key
    from {{ exchanges("live_matches") }} as exchanges
    where change_seconds < match_ambiguity_seconds
),

matches as (
    select * from {{ built('timetable_matches') }}
    union all
    select
        trip_key,
        departure_key,
        operator,
        service_date,
        trip_id,
        line_code,
        direction,
        leg,
        origin_position,
        departure_at,
        left_at as due_at,
        'live' as basis,
        null as n_replaced_rows,
        0.6 / (1 + cost_seconds / match_score_seconds) as match_score
    from live_matches
    where trip_key not in (select ambiguous.trip_key from ambiguous)
),

anonymous as (
    select distinct
        departures.departure_key,
        departures.operator,
        departures.service_date,
        {{ anonymous_trip_id('departures') }} as trip_id,
        departures.line_code,
        departures.direction,
        departures.leg,
        departures.departure_at
    from {{ built('anonymous_departures') }} as departures
    left join matches using (operator, service_date, line_code, direction, leg, departure_at)
    where matches.trip_key is null
)

select * from matches
union all
select
    {{ hashed_key(['operator', 'service_date', 'trip_id']) }} as trip_key,
    departure_key,
    operator,
    service_date,
    trip_id,
    line_code,
    direction,
    leg,
    null as origin_position,
    departure_at,
    departure_at as due_at,
    'anonymous' as basis,
    null as n_replaced_rows,
    0.5 as match_score
from anonymous
