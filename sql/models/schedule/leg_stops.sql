-- One row per operator, service_date, line, direction, leg and position: a stop at which departures of the leg are due.
-- A direction's stop list holds the stops of all its variants. A leg calls where its trips were listed; elsewhere only
-- between its ends, as far as they are known, and not at stops in a row that listed none of its trips, if so many
-- answers came shortly before them that some should have listed one. Where one or two stops never list anything, the
-- upstream may not know of them. Where a stop did not list half of the trips that answers should have listed, those
-- alone are due that it ever listed.
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

calls as (
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        position,
        count(distinct departure_key) as n_calls
    from listed
    group by operator, service_date, line_code, direction, leg, position
),

chances as (
    -- departures that an answer of the stop should have listed if they called there: it came shortly before their bus.
    -- How many of them it ever listed
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
        seconds_between('polls.polled_at', 'departures.start_at')
        ~ ' + travel.travel_seconds between parameters.match_early_seconds and parameters.not_run_before_seconds'
    ) }}
    left join (
        select distinct
            departure_key,
            position
        from listed
    ) as called
        on departures.departure_key = called.departure_key and travel.position = called.position
    where doubts.request_id is null
    group by
        departures.operator, departures.service_date, departures.line_code, departures.direction, departures.leg,
        travel.position
),

counted as (
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
        listing_stops.stop_code is not null as is_listing,
        -- the share of chances that list a bus, where any did
        least(
            cast(sum(calls.n_calls) over one_leg as double)
            / nullif(sum(case when calls.n_calls > 0 then chances.n_chances end) over one_leg, 0),
            1
        ) as listed_share,
        count(calls.n_calls) over (
            partition by stops.operator, stops.service_date, stops.line_code, stops.direction, legs.leg
            order by stops.position rows between unbounded preceding and current row
        ) as n_called_before
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
    window one_leg as (
        partition by stops.operator, stops.service_date, stops.line_code, stops.direction, legs.leg
    )
),

stretches as (
    -- stops in a row at which the leg was not listed are skipped together
    select
        *,
        listed_share * sum(case when n_calls = 0 then n_chances end) over stretch as n_expected_in_stretch,
        count(case when n_calls = 0 then 1 end) over stretch as n_stops_in_stretch,
        count(case when n_calls = 0 and is_listing then 1 end) over stretch as n_listing_in_stretch
    from counted
    window stretch as (partition by operator, service_date, line_code, direction, leg, n_called_before)
)

select
    stretches.* {{ exclude(
        "n_chances, n_called_chances, is_listing, listed_share, n_called_before, n_expected_in_stretch",
        "n_stops_in_stretch, n_listing_in_stretch"
    ) }},
    stretches.n_calls > 0
    and stretches.n_chances - stretches.n_called_chances >= greatest(
        stretches.n_called_chances, least(stretches.n_calls, parameters.skipped_stop_trips)
    ) as is_rare
from stretches
cross join {{ ref('inference_parameters') }} as parameters
left join {{ built('leg_ends') }} as ends using (operator, service_date, line_code, direction, leg)
where
    stretches.n_calls > 0
    or coalesce(stretches.position >= ends.origin_position, true)
    and coalesce(stretches.position <= ends.destination_position, true)
    and (
        coalesce(stretches.n_expected_in_stretch < parameters.skipped_stop_trips, true)
        or stretches.n_listing_in_stretch = 0 and stretches.n_stops_in_stretch < parameters.silent_stops
    )
