-- One row per operator, service_date and matched trip: the scheduled departure it runs as, and how sure that is.
-- Per line and direction, one to one: each trip takes the departure nearest its start, and of several trips
-- that want the same one the nearest has it.
with visits as (
    select
        evidence.operator,
        evidence.service_date,
        evidence.trip_id,
        evidence.stop_code,
        evidence.theoretical_at,
        evidence.passed_at as live_at,
        labels.line_code,
        labels.direction,
        stops.position
    from {{ ref('visit_evidence') }} as evidence
    inner join {{ ref('line_labels') }} as labels
        on
            evidence.operator = labels.operator
            and evidence.service_date = labels.service_date
            and evidence.line_label = labels.line_label
            and evidence.is_slash_variant is not distinct from labels.is_slash_variant
            and evidence.destination is not distinct from labels.destination
            and evidence.stop_code = labels.stop_code
    inner join {{ ref('line_stops_of_day') }} as stops
        on
            labels.operator = stops.operator
            and labels.service_date = stops.service_date
            and labels.line_code = stops.line_code
            and labels.direction = stops.direction
            and labels.stop_code = stops.stop_code
            and stops.occurrence = least(evidence.visit_number, stops.n_occurrences)
    where {{ is_built('evidence.service_date') }}
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
    -- when a trip is thought to have been due at its origin: its own timetable time there, one at a later stop
    -- less the running time, or the moment it left
    select
        visits.operator,
        visits.service_date,
        visits.trip_id,
        visits.line_code,
        visits.direction,
        case
            when visits.position = 1 and visits.theoretical_at is not null then 1
            when visits.theoretical_at is not null then 2
            else 3
        end as basis,
        case
            when visits.theoretical_at is not null
                then {{ add_seconds('visits.theoretical_at', '-coalesce(offsets.offset_seconds, 0)') }}
            else visits.live_at
        end as due_at,
        visits.position
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
        or (visits.theoretical_at is not null and offsets.offset_seconds is not null)
),

trip_starts as (
    select *
    from (
        select
            starts.*,
            case when starts.basis = 3 then rules.match_live_seconds else rules.match_theoretical_seconds end
                as bound_seconds,
            rules.ruleset_version,
            row_number() over (
                partition by starts.operator, starts.service_date, starts.trip_id
                order by starts.basis, starts.position, starts.due_at, starts.line_code, starts.direction
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
        row_number() over (
            partition by operator, service_date, line_code, direction, departure_at
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
            abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}) as off_seconds,
            row_number() over (
                partition by trips.operator, trips.service_date, trips.trip_id
                order by
                    abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}), departures.departure_at
            ) as nth_departure
        from trip_starts as trips
        inner join departures
            on
                trips.operator = departures.operator
                and trips.service_date = departures.service_date
                and trips.line_code = departures.line_code
                and trips.direction = departures.direction
                and departures.place = 1
                and abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}) <= trips.bound_seconds
    ) as ranked
    where nth_departure = 1
),

placed as (
    select
        *,
        row_number() over (
            partition by operator, service_date, line_code, direction, departure_at
            order by basis, off_seconds, due_at, trip_id
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
    case placed.basis when 1 then 'theoretical_origin' when 2 then 'theoretical_later' else 'live_origin' end as basis,
    case placed.basis when 1 then 1.0 when 2 then 0.9 else 0.6 end
    * (1 - 0.5 * placed.off_seconds / placed.bound_seconds) as match_score,
    placed.ruleset_version
from placed
inner join departures
    on
        placed.operator = departures.operator
        and placed.service_date = departures.service_date
        and placed.line_code = departures.line_code
        and placed.direction = departures.direction
        and placed.departure_at = departures.departure_at
        and placed.place = departures.place
