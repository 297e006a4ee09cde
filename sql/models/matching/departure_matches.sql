-- One row per operator, service_date and matched trip: the scheduled departure it runs as, and how sure that is.
-- One to one: first by timetable times; then the trips only seen live get the free departures of their line and
-- direction so that the sum of costs is least, and the score is the probability of the match; then come departures that only anonymous rows announced, each with a
-- trip id of its own.
with live as (
    select
        *,
        cast(count(*) over (partition by trip_key, departure_key) - 1 as double) as n_drawn
    from {{ built('drawn_matches') }}
),

matches as (
    select * from {{ built('timetable_matches') }}
    union all
    select
        live.trip_key,
        live.departure_key,
        live.operator,
        live.service_date,
        live.trip_id,
        live.line_code,
        live.direction,
        live.leg,
        live.origin_position,
        live.departure_at,
        live.left_at as due_at,
        'live' as basis,
        null as n_replaced_rows,
        live.n_drawn / parameters.match_draws as match_score
    from live
    cross join {{ ref('inference_parameters') }} as parameters
    where live.draw = 0
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
