-- One row per operator, service_date, line, direction, leg and position of the direction's stop list: how many
-- departures of the leg the stop listed, and how many it should have listed if they called there.
with legs as (
    select
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        departures.leg,
        count(matches.trip_id) as n_matched_trips
    from {{ built('timetable_departures') }} as departures
    left join {{ built('departure_matches') }} as matches
        using (operator, service_date, line_code, direction, leg, departure_at)
    where departures.slot_number = 1
    group by departures.operator, departures.service_date, departures.line_code, departures.direction, departures.leg
),

listed as (
    -- of buses, and of departures that anonymous rows announced
    select
        visits.operator,
        visits.service_date,
        visits.line_code,
        visits.direction,
        coalesce(matches.leg, announced.leg) as leg,
        visits.position,
        coalesce(matches.departure_key, announced.departure_key) as departure_key,
        visits.estimated_start_at
    from {{ built('passing_times') }} as visits
    left join {{ built('departure_matches') }} as matches using (trip_key, line_code, direction)
    left join {{ built('anonymous_departures') }} as announced using (listed_visit_key)
    where visits.position is not null and coalesce(matches.departure_key, announced.departure_key) is not null
),

called as (
    select distinct
        operator,
        service_date,
        line_code,
        direction,
        leg,
        position,
        departure_key
    from listed
),

calls as (
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        position,
        count(*) as n_calls
    from called
    group by operator, service_date, line_code, direction, leg, position
),

chances as (
    -- departures that an answer of the stop should have listed if they called there: it came shortly before their bus,
    -- and its list had room. How many of them it ever listed
    select
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        departures.leg,
        travel.position,
        count(distinct departures.departure_key) as n_chances,
        count(distinct called.departure_key) as n_called_chances
    from (
        select
            operator,
            service_date,
            line_code,
            direction,
            leg,
            departure_key,
            {{ median_instant('estimated_start_at') }} as start_at
        from listed
        group by operator, service_date, line_code, direction, leg, departure_key
    ) as departures
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ built('line_travel_times') }} as travel using (operator, service_date, line_code, direction)
    {{ join_proving_answers(
        'travel',
        "seconds_between(polls.polled_at, departures.start_at)"
        ~ ' + travel.travel_seconds between parameters.match_early_seconds and parameters.not_run_before_seconds'
    ) }}
    left join {{ ref('full_lists') }} as lists
        on
            polls.operator = lists.operator
            and polls.request_id = lists.request_id
            and {{ plain_label_of('lines.line_number') }} = lists.plain_label
            and seconds_between(lists.full_at, departures.start_at) + travel.travel_seconds
            > -parameters.past_tolerance_seconds
    left join called on departures.departure_key = called.departure_key and travel.position = called.position
    where doubts.request_id is null and lists.request_id is null
    group by
        departures.operator, departures.service_date, departures.line_code, departures.direction, departures.leg,
        travel.position
)

select
    stops.operator,
    stops.service_date,
    stops.line_code,
    stops.direction,
    legs.leg,
    stops.position,
    stops.stop_sequence,
    stops.stop_code,
    legs.n_matched_trips,
    coalesce(calls.n_calls, 0) as n_calls,
    coalesce(chances.n_chances, 0) as n_chances,
    coalesce(chances.n_called_chances, 0) as n_called_chances,
    listing_stops.stop_code is not null as is_listing
from legs
inner join {{ built('line_stops_of_day') }} as stops
    using (operator, service_date, line_code, direction)
left join calls using (operator, service_date, line_code, direction, leg, position)
left join chances using (operator, service_date, line_code, direction, leg, position)
left join (
    select distinct
        operator,
        service_date,
        stop_code
    from {{ built('line_candidates') }}
) as listing_stops using (operator, service_date, stop_code)
