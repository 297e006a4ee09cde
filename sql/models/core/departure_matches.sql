-- One row per operator, service_date and matched trip: the scheduled departure it runs as, and how sure that is.
-- Per line and direction, one to one: each trip takes the departure nearest its start, and of several trips
-- that want the same one the nearest has it.
with visits as (
    select
        evidence.operator,
        evidence.service_date,
        evidence.trip_id,
        evidence.is_slash_variant,
        evidence.theoretical_at,
        evidence.passed_at,
        lines.line_code,
        lines.direction,
        lines.position
    from {{ ref('visit_evidence') }} as evidence
    inner join {{ ref('visit_lines') }} as lines
        on
            evidence.operator = lines.operator
            and evidence.service_date = lines.service_date
            and evidence.trip_id = lines.trip_id
            and evidence.stop_code = lines.stop_code
            and evidence.visit_number = lines.visit_number
    where lines.position is not null and {{ is_built('evidence.service_date') }}
),

offsets as (
    -- scheduled running time from the origin to a stop, from the trips whose timetable time is known at both
    select
        visits.operator,
        visits.service_date,
        visits.line_code,
        visits.direction,
        visits.position,
        median({{ seconds_between('origins.theoretical_at', 'visits.theoretical_at') }}) as offset_seconds
    from visits
    inner join visits as origins
        on
            visits.operator = origins.operator
            and visits.service_date = origins.service_date
            and visits.trip_id = origins.trip_id
            and visits.line_code = origins.line_code
            and visits.direction = origins.direction
            and origins.position = 1
    where
        visits.theoretical_at is not null
        and origins.theoretical_at is not null
        and visits.theoretical_at >= origins.theoretical_at
    group by visits.operator, visits.service_date, visits.line_code, visits.direction, visits.position
),

starts as (
    -- when a trip is thought to have been due at its origin: its own timetable time there, one at a later stop less
    -- the running time, or the moment it left; a short run may begin at any stop, so its first known one is tried
    select
        *,
        case basis
            when 'theoretical_origin' then 1.0
            when 'theoretical_later' then 0.9
            when 'short_run' then 0.8
            else 0.6
        end as basis_score
    from (
        select
            visits.*,
            case
                when visits.position = 1 and visits.theoretical_at is not null then 'theoretical_origin'
                when visits.is_slash_variant then 'short_run'
                when visits.theoretical_at is not null then 'theoretical_later'
                else 'live_origin'
            end as basis,
            case
                when visits.position = 1 or visits.is_slash_variant
                    then coalesce(visits.theoretical_at, visits.passed_at)
                else {{ add_seconds('visits.theoretical_at', '-offsets.offset_seconds') }}
            end as due_at
        from visits
        left join offsets
            on
                visits.operator = offsets.operator
                and visits.service_date = offsets.service_date
                and visits.line_code = offsets.line_code
                and visits.direction = offsets.direction
                and visits.position = offsets.position
        where
            visits.position = 1
            or (visits.theoretical_at is not null and (visits.is_slash_variant or offsets.offset_seconds is not null))
    ) as guesses
    where due_at is not null
),

trip_starts as (
    select *
    from (
        select
            starts.*,
            case
                when starts.basis = 'live_origin' then rules.match_live_seconds
                else rules.match_theoretical_seconds
            end as bound_seconds,
            rules.ruleset_version,
            row_number() over (
                partition by starts.operator, starts.service_date, starts.trip_id
                order by starts.basis_score desc, starts.position, starts.due_at, starts.line_code, starts.direction
            ) as nth
        from starts
        {{ join_rules('starts.service_date') }}
    ) as ranked
    where nth = 1
),

departures as (
    -- equal departures are numbered, so that as many trips may take them
    select
        operator,
        service_date,
        line_code,
        direction,
        departure_at,
        service_code,
        duplicate_number,
        valid_from,
        is_slash_variant,
        row_number() over (
            partition by operator, service_date, line_code, direction, is_slash_variant, departure_at
            order by service_code, duplicate_number, valid_from
        ) as place
    from {{ ref('timetable_departures') }}
    where is_in_force and {{ is_built() }}
),

nearest as (
    select *
    from (
        select
            trips.*,
            departures.departure_at,
            departures.is_slash_variant as is_slash_departure,
            abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}) as off_seconds,
            row_number() over (
                partition by trips.operator, trips.service_date, trips.trip_id
                order by
                    abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}),
                    case when departures.is_slash_variant = trips.is_slash_variant then 0 else 1 end,
                    departures.departure_at,
                    departures.is_slash_variant
            ) as nth_departure
        from trip_starts as trips
        inner join departures
            on
                trips.operator = departures.operator
                and trips.service_date = departures.service_date
                and trips.line_code = departures.line_code
                and trips.direction = departures.direction
                and departures.place = 1
                and (trips.basis != 'short_run' or departures.is_slash_variant)
                and abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}) <= trips.bound_seconds
    ) as ranked
    where nth_departure = 1
),

placed as (
    select
        *,
        row_number() over (
            partition by operator, service_date, line_code, direction, is_slash_departure, departure_at
            order by basis_score desc, off_seconds, due_at, trip_id
        ) as place
    from nearest
)

select
    placed.operator,
    placed.service_date,
    placed.trip_id,
    placed.line_code,
    placed.direction,
    departures.service_code,
    departures.departure_at,
    departures.duplicate_number,
    departures.valid_from as departure_valid_from,
    placed.due_at,
    placed.basis,
    placed.basis_score * (1 - 0.5 * placed.off_seconds / placed.bound_seconds) as match_score,
    placed.ruleset_version
from placed
inner join departures
    on
        placed.operator = departures.operator
        and placed.service_date = departures.service_date
        and placed.line_code = departures.line_code
        and placed.direction = departures.direction
        and placed.departure_at = departures.departure_at
        and placed.is_slash_departure is not distinct from departures.is_slash_variant
        and placed.place = departures.place
