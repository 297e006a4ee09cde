-- One row per operator, service_date and departure in force without a trip that is known: whether it did not run.
-- It did not, if it was announced and withdrawn, or if its origin was polled without a long gap around the departure;
-- and if no trip without a departure can have been it, whether it was observed passing or was still expected when
-- collecting ended.
{%- set time = "operator, service_date, line_code, direction, departure_at" %}
with matches as (
    select
        matches.departure_key,
        -- only anonymous rows announced it, and they were withdrawn before any bus can have passed
        matches.basis = 'anonymous'
        and trips.outcome = 'not_observable'
        and trips.n_withdrawn_polls >= parameters.fewest_agreeing
        and trips.withdrawn_ahead_seconds >= parameters.earliest_bus_seconds as is_withdrawn
    from {{ built('departure_matches') }} as matches
    cross join {{ ref('inference_parameters') }} as parameters
    left join {{ built('trips') }} as trips using (trip_key)
),

origins as (
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        origin_position,
        count(*) as n_trips
    from {{ built('trip_legs') }}
    where origin_position is not null
    group by operator, service_date, line_code, direction, leg, origin_position
),

missing as (
    -- with the stop they leave from, if that is known: where most trips that may run as the leg start
    select
        departures.departure_key,
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        departures.departure_at,
        matches.departure_key is not null as is_withdrawn,
        stops.stop_code
    from {{ built('timetable_departures') }} as departures
    left join matches using (departure_key)
    left join {{ first_rows(
        'origins', ['operator', 'service_date', 'line_code', 'direction', 'leg'], 'n_trips desc, origin_position'
    ) }} as leg_origins using (operator, service_date, line_code, direction, leg)
    left join {{ built('leg_ends') }} as ends using (operator, service_date, line_code, direction, leg)
    left join {{ built('line_stops_of_day') }} as stops
        on
            departures.operator = stops.operator
            and departures.service_date = stops.service_date
            and departures.line_code = stops.line_code
            and departures.direction = stops.direction
            and stops.position
            = coalesce(
                leg_origins.origin_position, ends.origin_position, case when not departures.is_slash_variant then 1 end
            )
    where departures.is_in_force and (matches.departure_key is null or matches.is_withdrawn)
),

times as (
    select distinct
        {{ time }},
        stop_code,
        is_withdrawn,
        not_run_before_seconds,
        not_run_after_seconds,
        not_run_gap_seconds,
        gone_within_seconds
    from missing
    cross join {{ ref('inference_parameters') }}
),

origin_polls as (
    select
        times.*,
        seconds_between(times.departure_at, polls.received_at) as after_seconds
    from times
    {{ join_proving_answers(
        'times',
        "seconds_between(times.departure_at, polls.received_at)"
        ~ ' between -times.not_run_before_seconds and times.not_run_after_seconds + times.not_run_gap_seconds'
    ) }}
    where doubts.request_id is null
),

watched as (
    -- departure times whose origin was polled without a long gap, from before they were due until a late bus would have
    -- been listed too
    select {{ time }}
    from (
        select
            *,
            after_seconds - coalesce(
                lag(after_seconds) over (partition by {{ time }}, stop_code order by after_seconds),
                -not_run_before_seconds
            ) as gap_seconds
        from origin_polls
    ) as answers
    group by {{ time }}
    having max(gap_seconds) <= max(not_run_gap_seconds) and max(after_seconds) >= max(not_run_after_seconds)
),

unmatched_visits as (
    -- of trips without a departure, seen live or listed to the end; of those seen live only, which may be of
    -- another line (`is_sure`) or whose departure is a guess; of those that passed the stop twice, so that they are
    -- two trips of one identifier; and of those still expected when collecting ended, whose line nothing has
    -- decided. A trip that took the place of a row later on its way (`is_of_row`) may have taken that of a row
    -- withdrawn then.
    select
        visits.operator,
        visits.service_date,
        visits.stop_code,
        visits.line_code,
        visits.direction,
        visits.line_label,
        visits.is_slash_variant,
        coalesce(visits.destination, '') as destination,
        coalesce(visits.scheduled_at, visits.passed_at) as expected_at,
        coalesce(matches.basis = 'theoretical_later' and not visits.is_repeated, false) as is_of_row,
        coalesce(matches.basis = 'live' and not visits.is_repeated, false)
        and not {{ is_guessed_match() }} as is_sure,
        matches.trip_key is null as is_unmatched,
        false as is_pending
    from (
        select
            *,
            count(*) over (partition by trip_key, stop_code, stop_sequence) > 1 as is_repeated
        from {{ built('stop_visits') }}
    ) as visits
    left join {{ built('departure_matches') }} as matches using (trip_key)
    where
        (visits.n_polls > 0 or visits.n_withdrawn_polls = 0)
        and (
            matches.trip_key is null
            or visits.is_repeated
            or matches.basis in ('theoretical_later', 'live')
        )
    union all
    select
        operator,
        service_date,
        stop_code,
        null as line_code,
        null as direction,
        line_label,
        is_slash_variant,
        destination,
        expected_at,
        false as is_of_row,
        false as is_sure,
        true as is_unmatched,
        true as is_pending
    from {{ ref('pending_visits') }}
),

possible_visits as (
    -- by every line that they may belong to: lines that share a number cannot always be told apart
    select
        operator,
        service_date,
        stop_code,
        line_code,
        direction,
        expected_at,
        is_of_row,
        is_unmatched
    from unmatched_visits
    where not is_pending and not is_sure
    union all
    select
        operator,
        service_date,
        stop_code,
        candidates.line_code,
        candidates.direction,
        visits.expected_at,
        false as is_of_row,
        visits.is_unmatched
    from unmatched_visits as visits
    inner join {{ built('line_candidates') }} as candidates using (operator, service_date, line_label, stop_code)
    where
        visits.is_slash_variant is not distinct from candidates.is_slash_variant
        and visits.destination = coalesce(candidates.destination, '')
        and coalesce(visits.line_code != candidates.line_code, true)
),

possibly_run as (
    -- departure times that a visit at the origin may belong to, or one of the line further on: where a leg begins is
    -- not always known. A bus without a departure may run as one that the timetable gives to the other direction
    select distinct
        operator,
        service_date,
        times.line_code,
        times.direction,
        times.departure_at
    from times
    inner join possible_visits as visits using (operator, service_date)
    where
        coalesce(visits.line_code = times.line_code, true)
        and (times.is_withdrawn or not visits.is_of_row)
        and (
            times.stop_code = visits.stop_code
            or times.direction = visits.direction
            or visits.is_unmatched and not times.is_withdrawn
        )
        and seconds_between(times.departure_at, visits.expected_at)
        between -times.not_run_before_seconds
        and case
            when times.direction = visits.direction then 2 * times.gone_within_seconds
            else times.not_run_after_seconds
        end
)

select
    missing.departure_key,
    missing.operator,
    missing.service_date,
    missing.departure_at,
    case
        when possibly_run.departure_at is not null or listed_lines.line_code is null then 'not_observable'
        when watched.departure_at is not null or missing.is_withdrawn then 'not_run'
        else 'not_observable'
    end as outcome
from missing
left join watched using ({{ time }})
left join possibly_run using ({{ time }})
left join {{ listed_lines() }} as listed_lines using (operator, service_date, line_code, direction)
