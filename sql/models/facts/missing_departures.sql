-- One row per operator, service_date and departure in force that no trip is known to have run as: whether it did not
-- run.
-- It did not, if it was announced and withdrawn, or if its origin was polled without a long gap around the departure;
-- and if no trip without a departure can have been it, whether it was observed passing or was still expected when
-- collecting ended.
with matches as (
    select
        matches.departure_key,
        -- only anonymous rows announced it, and they were withdrawn before any bus can have passed
        coalesce(
            matches.basis = 'anonymous'
            and trips.outcome = 'not_observable'
            and trips.n_withdrawn_polls >= parameters.withdrawn_polls
            and trips.withdrawn_ahead_seconds >= parameters.earliest_bus_seconds,
            false
        ) as is_withdrawn
    from {{ built('departure_matches') }} as matches
    cross join {{ ref('inference_parameters') }} as parameters
    left join {{ built('trips') }} as trips using (trip_key)
),

leg_origins as (
    -- where most trips that may run as a leg start
    select *
    from (
        select
            operator,
            service_date,
            line_code,
            direction,
            leg,
            origin_position,
            row_number() over (
                partition by operator, service_date, line_code, direction, leg
                order by count(*) desc, origin_position
            ) as nth
        from {{ built('trip_legs') }}
        where origin_position is not null
        group by operator, service_date, line_code, direction, leg, origin_position
    ) as ranked
    where nth = 1
),

missing as (
    -- with the stop they leave from, if that is known
    select
        departures.departure_key,
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        departures.departure_at,
        coalesce(matches.is_withdrawn, false) as is_withdrawn,
        origins.stop_code
    from {{ built('timetable_departures') }} as departures
    left join matches using (departure_key)
    left join leg_origins using (operator, service_date, line_code, direction, leg)
    left join {{ built('line_stops_of_day') }} as origins
        on
            departures.operator = origins.operator
            and departures.service_date = origins.service_date
            and departures.line_code = origins.line_code
            and departures.direction = origins.direction
            and origins.position
            = coalesce(leg_origins.origin_position, case when not departures.is_slash_variant then 1 end)
    where
        departures.is_in_force
        and (matches.departure_key is null or matches.is_withdrawn)
),

times as (
    select distinct
        missing.operator,
        missing.service_date,
        missing.line_code,
        missing.direction,
        missing.departure_at,
        missing.stop_code,
        parameters.not_run_before_seconds,
        parameters.not_run_after_seconds,
        parameters.not_run_gap_seconds,
        parameters.gone_within_seconds
    from missing
    cross join {{ ref('inference_parameters') }} as parameters
),

watched as (
    -- departure times whose origin was polled without a long gap, from before they were due until a late bus would have
    -- been listed too
    select
        operator,
        service_date,
        line_code,
        direction,
        departure_at
    from (
        select
            times.*,
            polls.received_at,
            lag(polls.received_at) over departure as previous_at,
            min(polls.received_at) over departure as first_at,
            max(polls.received_at) over departure as last_at
        from times
        inner join {{ ref('stop_polls') }} as polls
            on
                times.operator = polls.operator
                and times.stop_code = polls.stop_code
                and {{ is_received_around('polls.received_date') }}
                and polls.received_at
                between {{ add_seconds('times.departure_at', '-times.not_run_before_seconds') }}
                and {{ add_seconds('times.departure_at', '(times.not_run_after_seconds + times.not_run_gap_seconds)') }}
        window departure as (
            partition by
                times.operator, times.service_date, times.line_code, times.direction, times.departure_at,
                times.stop_code
            order by polls.received_at
            rows between unbounded preceding and unbounded following
        )
    ) as answers
    group by operator, service_date, line_code, direction, departure_at
    having
        max({{ seconds_between('previous_at', 'received_at') }}) <= max(not_run_gap_seconds)
        and max(not_run_before_seconds + {{ seconds_between('departure_at', 'first_at') }}) <= max(not_run_gap_seconds)
        and max({{ seconds_between('departure_at', 'last_at') }}) >= max(not_run_after_seconds)
),

unmatched_visits as (
    -- visits of trips without a departure, seen live or listed to the end; and of trips seen live only where departures
    -- follow closely: they may have run as another one
    select
        visits.operator,
        visits.service_date,
        visits.stop_code,
        visits.line_code,
        visits.direction,
        visits.line_label,
        visits.is_slash_variant,
        coalesce(visits.destination, '') as destination,
        coalesce(visits.scheduled_at, visits.passed_at) as expected_at
    from {{ built('stop_visits') }} as visits
    cross join {{ ref('inference_parameters') }} as parameters
    left join {{ built('departure_matches') }} as matches using (trip_key)
    left join {{ built('timetable_departures') }} as departures using (departure_key)
    where
        (
            matches.trip_key is null
            or (matches.basis = 'live' and departures.headway_seconds < parameters.match_sure_headway_seconds)
        )
        and (visits.n_polls > 0 or visits.n_withdrawn_polls = 0)
),

labelled_visits as (
    -- and visits that were still expected when collecting ended, whose line nothing has decided
    select
        operator,
        service_date,
        stop_code,
        line_code,
        line_label,
        is_slash_variant,
        destination,
        expected_at
    from unmatched_visits
    union all
    select
        operator,
        service_date,
        stop_code,
        null as line_code,
        line_label,
        is_slash_variant,
        destination,
        expected_at
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
        expected_at
    from unmatched_visits
    union all
    select
        visits.operator,
        visits.service_date,
        visits.stop_code,
        candidates.line_code,
        candidates.direction,
        visits.expected_at
    from labelled_visits as visits
    inner join {{ built('line_candidates') }} as candidates
        on
            visits.operator = candidates.operator
            and visits.service_date = candidates.service_date
            and visits.line_label = candidates.line_label
            and visits.is_slash_variant is not distinct from candidates.is_slash_variant
            and visits.destination = coalesce(candidates.destination, '')
            and visits.stop_code = candidates.stop_code
    where visits.line_code is null or visits.line_code != candidates.line_code
),

possibly_run as (
    -- departure times that a visit at the origin may belong to, or one of the line further on: where a leg begins is
    -- not always known
    select distinct
        times.operator,
        times.service_date,
        times.line_code,
        times.direction,
        times.departure_at
    from times
    inner join possible_visits as visits
        on
            times.operator = visits.operator
            and times.service_date = visits.service_date
            and coalesce(visits.line_code, times.line_code) = times.line_code
            and visits.expected_at
            between {{ add_seconds('times.departure_at', '-times.not_run_before_seconds') }}
            and {{ add_seconds(
                'times.departure_at',
                'case when times.direction = visits.direction then 2 * times.gone_within_seconds '
                'else times.not_run_after_seconds end'
            ) }}
            and (times.stop_code = visits.stop_code or times.direction = visits.direction)
)

select
    missing.departure_key,
    missing.operator,
    missing.service_date,
    missing.departure_at,
    case
        when
            (watched.departure_at is not null or missing.is_withdrawn)
            and possibly_run.departure_at is null
            and listed_lines.line_code is not null
            then 'not_run'
        else 'not_observable'
    end as outcome
from missing
left join watched using (operator, service_date, line_code, direction, departure_at)
left join possibly_run using (operator, service_date, line_code, direction, departure_at)
left join {{ listed_lines() }} as listed_lines using (operator, service_date, line_code, direction)
