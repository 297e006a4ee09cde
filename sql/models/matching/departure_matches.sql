-- One row per operator, service_date and matched trip: the scheduled departure it runs as, and how sure that is.
-- One to one: first by timetable times; then the trips only seen live get the free departures of their line and
-- direction so that the sum of costs is least; then come departures that only anonymous rows announced, each with a
-- trip id of its own.
with pairs as (
    select
        *,
        row_number() over (line_day order by trip_key, departure_key) as pair_number,
        dense_rank() over (line_day order by trip_key) as trip_number,
        dense_rank() over (line_day order by departure_key) as departure_number
    from {{ built('live_match_costs') }}
    window line_day as (partition by operator, service_date, line_code, direction)
),

chosen as (
    select
        operator,
        service_date,
        line_code,
        direction,
        {{ each_of('pair_numbers') }} as pair_number
    from (
        select
            pairs.operator,
            pairs.service_date,
            pairs.line_code,
            pairs.direction,
            {{ least_cost_pairs(
                "pairs.trip_number", "pairs.departure_number", "pairs.cost_seconds", "pairs.pair_number",
                "max(parameters.match_max_cost_seconds)"
            ) }} as pair_numbers
        from pairs
        cross join {{ ref('inference_parameters') }} as parameters
        group by pairs.operator, pairs.service_date, pairs.line_code, pairs.direction
    ) as assignments
),

matches as (
    select * from {{ built('timetable_matches') }}
    union all
    select
        pairs.trip_key,
        pairs.departure_key,
        pairs.operator,
        pairs.service_date,
        pairs.trip_id,
        pairs.line_code,
        pairs.direction,
        pairs.leg,
        pairs.origin_position,
        pairs.departure_at,
        pairs.left_at as due_at,
        'live' as basis,
        null as n_replaced_rows,
        0.6 / (1 + pairs.cost_seconds / parameters.match_score_seconds) as match_score
    from pairs
    inner join chosen using (operator, service_date, line_code, direction, pair_number)
    cross join {{ ref('inference_parameters') }} as parameters
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
