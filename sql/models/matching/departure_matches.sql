-- One row per operator, service_date and matched trip: the scheduled departure it runs as, and how sure that is.
-- One to one: first by timetable times; then the trips only seen live get the free departures of their line and
-- direction, and the score is the probability of the match; then come departures that only anonymous rows announced,
-- each with a trip id of its own.
{%- set columns = "trip_key, departure_key, operator, service_date, trip_id, line_code, direction, leg, "
    ~ "origin_position, departure_at, due_at, basis" %}
with matches as (
    select
        {{ columns }},
        match_score
    from {{ built('possible_departures') }}
    where basis != 'live'
    union all
    select
        {{ columns }},
        probability as match_score
    from {{ built('match_probabilities') }}
    where is_match
)

select * from matches
union all
select distinct
    key_of(concat_ws('|', operator, service_date, {{ anonymous_trip_id('departures') }})) as trip_key,
    departures.departure_key,
    operator,
    service_date,
    {{ anonymous_trip_id('departures') }} as trip_id,
    line_code,
    direction,
    leg,
    cast(null as bigint) as origin_position,
    departure_at,
    departure_at as due_at,
    'anonymous' as basis,
    0.5 as match_score
from {{ built('anonymous_departures') }} as departures
left join matches using (operator, service_date, line_code, direction, leg, departure_at)
where matches.trip_key is null
