-- One row per operator, service_date, line, direction, position and service_hour of departure: the scheduled running
-- time from the origin, learned from the timetable listings of trips whose departure is known.
-- The row without an hour speaks for the whole day. Times that differ too much between trips are no pattern.
with offsets as (
    select
        matches.operator,
        matches.service_date,
        matches.line_code,
        matches.direction,
        lines.position,
        departures.service_hour,
        {{ seconds_between('matches.departure_at', 'evidence.theoretical_at') }} as offset_seconds
    from {{ ref('departure_matches') }} as matches
    inner join {{ ref('visit_lines') }} as lines
        on
            matches.operator = lines.operator
            and matches.service_date = lines.service_date
            and matches.trip_id = lines.trip_id
            and matches.line_code = lines.line_code
            and matches.direction = lines.direction
    inner join {{ ref('visit_evidence') }} as evidence
        on
            lines.operator = evidence.operator
            and lines.service_date = evidence.service_date
            and lines.trip_id = evidence.trip_id
            and lines.stop_code = evidence.stop_code
            and lines.visit_number = evidence.visit_number
    inner join {{ ref('timetable_departures') }} as departures
        on
            matches.operator = departures.operator
            and matches.service_date = departures.service_date
            and matches.line_code = departures.line_code
            and matches.direction = departures.direction
            and matches.service_code is not distinct from departures.service_code
            and matches.departure_at = departures.departure_at
            and matches.duplicate_number = departures.duplicate_number
            and matches.departure_valid_from = departures.valid_from
    where
        {{ is_built('matches.service_date') }}
        and evidence.theoretical_at >= matches.departure_at
        and matches.basis in ('theoretical_origin', 'theoretical_later')
        and lines.position is not null
)

select
    offsets.operator,
    offsets.service_date,
    offsets.line_code,
    offsets.direction,
    offsets.position,
    offsets.service_hour,
    count(*) as n_trips,
    median(offsets.offset_seconds) as offset_seconds,
    max(offsets.offset_seconds) - min(offsets.offset_seconds) as spread_seconds,
    max(rules.ruleset_version) as ruleset_version
from (
    select * from offsets
    union all
    select
        operator,
        service_date,
        line_code,
        direction,
        position,
        null as service_hour,
        offset_seconds
    from offsets
) as offsets
{{ join_rules('offsets.service_date') }}
group by
    offsets.operator, offsets.service_date, offsets.line_code, offsets.direction, offsets.position,
    offsets.service_hour
having
    count(*) >= max(rules.pattern_min_trips)
    and max(offsets.offset_seconds) - min(offsets.offset_seconds) <= max(rules.pattern_spread_seconds)
