-- One row per operator, service_date, line, direction, service, departure, duplicate and validity: what became of it.
-- A departure counts as not run only where it was announced and taken off the list, or where the ledger shows that its
-- origin was watched and showed no sign of it; and no bus nobody knows the departure of may be it.
with departures as (
    select
        timetable.*,
        matches.trip_id as matched_trip_id,
        matches.match_score,
        trips.outcome as trip_outcome,
        -- only rows without an id announced it, and they were taken off the list before it was due
        coalesce(
            trips.outcome = 'not_observable'
            and matches.basis = 'stand_in'
            and trips.n_withdrawn_polls >= rules.withdrawn_polls,
            false
        ) as is_withdrawn,
        rules.not_run_before_seconds,
        rules.not_run_after_seconds,
        rules.not_run_gap_seconds,
        rules.gone_within_seconds,
        rules.ruleset_version
    from {{ ref('timetable_departures') }} as timetable
    left join {{ ref('departure_matches') }} as matches
        on
            timetable.operator = matches.operator
            and timetable.service_date = matches.service_date
            and timetable.line_code = matches.line_code
            and timetable.direction = matches.direction
            and timetable.service_code is not distinct from matches.service_code
            and timetable.departure_at = matches.departure_at
            and timetable.duplicate_number = matches.duplicate_number
            and timetable.valid_from = matches.departure_valid_from
            and {{ is_built('matches.service_date') }}
    left join {{ ref('trips') }} as trips
        on
            matches.operator = trips.operator
            and matches.service_date = trips.service_date
            and matches.trip_id = trips.trip_id
            and {{ is_built('trips.service_date') }}
    {{ join_rules('timetable.service_date') }}
    where {{ is_built('timetable.service_date') }}
),

leg_origins as (
    -- where most trips that may run as a leg begin
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        origin_position as position
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
        from {{ ref('trip_legs') }}
        where origin_position is not null and {{ is_built() }}
        group by operator, service_date, line_code, direction, leg, origin_position
    ) as ranked
    where nth = 1
),

missing as (
    -- those no trip runs as, and where they leave from, if that is known
    select distinct
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        departures.departure_at,
        departures.not_run_before_seconds,
        departures.not_run_after_seconds,
        departures.not_run_gap_seconds,
        departures.gone_within_seconds,
        origins.stop_code
    from departures
    left join leg_origins
        on
            departures.operator = leg_origins.operator
            and departures.service_date = leg_origins.service_date
            and departures.line_code = leg_origins.line_code
            and departures.direction = leg_origins.direction
            and departures.leg = leg_origins.leg
    left join {{ ref('line_stops_of_day') }} as origins
        on
            departures.operator = origins.operator
            and departures.service_date = origins.service_date
            and departures.line_code = origins.line_code
            and departures.direction = origins.direction
            and origins.position = coalesce(leg_origins.position, case when not departures.is_slash_variant then 1 end)
            and {{ is_built('origins.service_date') }}
    where (departures.matched_trip_id is null or departures.is_withdrawn) and departures.is_in_force
),

polls as (
    select
        operator,
        key as stop_code,
        received_at as polled_at
    from {{ ref('staging_requests') }}
    where endpoint = 'passages' and is_good and {{ is_received_around() }}
),

watched as (
    -- departures whose origin was polled without a long gap from before they were due until well after
    select
        operator,
        service_date,
        line_code,
        direction,
        departure_at
    from (
        select
            missing.*,
            polls.polled_at,
            lag(polls.polled_at) over departure as previous_at,
            min(polls.polled_at) over departure as first_at,
            max(polls.polled_at) over departure as last_at
        from missing
        inner join polls
            on
                missing.operator = polls.operator
                and missing.stop_code = polls.stop_code
                and polls.polled_at
                between {{ add_seconds('missing.departure_at', '-missing.not_run_before_seconds') }}
                and {{ add_seconds('missing.departure_at', 'missing.not_run_after_seconds') }}
        window departure as (
            partition by
                missing.operator, missing.service_date, missing.line_code, missing.direction,
                missing.departure_at, missing.stop_code
            order by polls.polled_at
            rows between unbounded preceding and unbounded following
        )
    ) as stretches
    group by operator, service_date, line_code, direction, departure_at
    having
        max({{ seconds_between('previous_at', 'polled_at') }}) <= max(not_run_gap_seconds)
        and max(not_run_before_seconds + {{ seconds_between('departure_at', 'first_at') }}) <= max(not_run_gap_seconds)
        and max(not_run_after_seconds - {{ seconds_between('departure_at', 'last_at') }}) <= max(not_run_gap_seconds)
),

unclaimed as (
    -- visits of trips that no departure claims, seen live or listed to the end
    select visits.*
    from {{ ref('stop_visits') }} as visits
    left join {{ ref('departure_matches') }} as matches
        on
            visits.operator = matches.operator
            and visits.service_date = matches.service_date
            and visits.trip_id = matches.trip_id
            and {{ is_built('matches.service_date') }}
    where
        matches.trip_id is null
        and (visits.n_polls > 0 or visits.n_withdrawn_polls = 0)
        and {{ is_built('visits.service_date') }}
),

possible as (
    -- and the lines they may be of: lines that share a number are not always told apart
    select
        operator,
        service_date,
        stop_code,
        line_code,
        direction,
        coalesce(scheduled_at, passed_at) as thought_at
    from unclaimed
    union all
    select
        unclaimed.operator,
        unclaimed.service_date,
        unclaimed.stop_code,
        candidates.line_code,
        candidates.direction,
        coalesce(unclaimed.scheduled_at, unclaimed.passed_at) as thought_at
    from unclaimed
    inner join {{ ref('line_candidates') }} as candidates
        on
            unclaimed.operator = candidates.operator
            and unclaimed.service_date = candidates.service_date
            and unclaimed.line_label = candidates.line_label
            and unclaimed.is_slash_variant is not distinct from candidates.is_slash_variant
            and coalesce(unclaimed.destination, '') = coalesce(candidates.destination, '')
            and unclaimed.stop_code = candidates.stop_code
            and {{ is_built('candidates.service_date') }}
    where unclaimed.line_code is null or unclaimed.line_code != candidates.line_code
),

suspects as (
    -- one of them at the origin, or another of the line further on, may be the missing trip: where a leg begins is not
    -- always known
    select distinct
        missing.operator,
        missing.service_date,
        missing.line_code,
        missing.direction,
        missing.departure_at
    from missing
    inner join possible as visits
        on
            missing.operator = visits.operator
            and missing.service_date = visits.service_date
            and coalesce(visits.line_code, missing.line_code) = missing.line_code
            and visits.thought_at
            between {{ add_seconds('missing.departure_at', '-missing.not_run_before_seconds') }}
            and {{ add_seconds(
                'missing.departure_at',
                'case when missing.direction = visits.direction then missing.gone_within_seconds '
                'else missing.not_run_after_seconds end'
            ) }}
            and (missing.stop_code = visits.stop_code or missing.direction = visits.direction)
),

shown_lines as (
    -- a line none of whose buses is ever listed cannot be seen not to run
    select distinct
        operator,
        service_date,
        line_code,
        direction
    from {{ ref('stop_visits') }}
    where line_code is not null and {{ is_built() }}
)

select
    departures.operator,
    departures.service_date,
    departures.line_code,
    departures.direction,
    departures.service_code,
    departures.departure_at,
    departures.duplicate_number,
    departures.valid_from,
    departures.valid_to,
    departures.is_current,
    departures.is_in_force,
    departures.service_hour,
    departures.service_seconds,
    departures.is_slash_variant,
    departures.headsign,
    departures.service_description,
    departures.leg_description,
    departures.leg,
    departures.matched_trip_id,
    departures.match_score,
    case
        when not departures.is_in_force then 'withdrawn'
        when departures.matched_trip_id is not null and not departures.is_withdrawn then departures.trip_outcome
        when
            (watched.departure_at is not null or departures.is_withdrawn)
            and suspects.departure_at is null
            and shown_lines.line_code is not null
            then 'not_run'
        else 'not_observable'
    end as outcome,
    departures.ruleset_version
from departures
left join watched
    on
        departures.operator = watched.operator
        and departures.service_date = watched.service_date
        and departures.line_code = watched.line_code
        and departures.direction = watched.direction
        and departures.departure_at = watched.departure_at
left join suspects
    on
        departures.operator = suspects.operator
        and departures.service_date = suspects.service_date
        and departures.line_code = suspects.line_code
        and departures.direction = suspects.direction
        and departures.departure_at = suspects.departure_at
left join shown_lines
    on
        departures.operator = shown_lines.operator
        and departures.service_date = shown_lines.service_date
        and departures.line_code = shown_lines.line_code
        and departures.direction = shown_lines.direction
