-- One row per operator, service_date, listed id, stop and visit that a timetable row without an id gave way to before
-- its trip was live elsewhere: the time of that row, and whether the trip was announced by it.
-- A single row may have been another bus's: most rows of a trip have to agree on when it was to begin.
with visits as (
    select
        trips.operator,
        trips.service_date,
        trips.listed_id,
        trips.stop_code,
        trips.visit_number,
        trips.trip_id,
        trips.line_code,
        trips.direction,
        trips.thought_at,
        trips.began_at,
        evidence.replaced_at,
        evidence.replaced_seen_at,
        evidence.first_live_at
    from {{ ref('visit_trips') }} as trips
    inner join {{ ref('visit_evidence') }} as evidence
        on
            {{ is_same_visit('trips', 'evidence', 'listed_id') }}
            and {{ is_built('evidence.service_date') }}
    where {{ is_built('trips.service_date') }}
),

tracked as (
    -- since when each trip has been live
    select
        operator,
        service_date,
        trip_id,
        line_code,
        direction,
        {{ live_since() }} as tracked_from
    from visits
    group by operator, service_date, trip_id, line_code, direction
),

handed_over as (
    -- when a trip was due to begin, by each timetable row without an id that gave way to it; one that was still listed
    -- when the bus was live at other stops gave way to another, which the list has no room for
    select
        visits.operator,
        visits.service_date,
        visits.listed_id,
        visits.stop_code,
        visits.visit_number,
        visits.trip_id,
        visits.line_code,
        visits.direction,
        visits.replaced_at,
        {{ add_seconds('visits.began_at', seconds_between('visits.thought_at', 'visits.replaced_at')) }}
            as announced_start_at
    from visits
    inner join tracked
        on
            visits.operator = tracked.operator
            and visits.service_date = tracked.service_date
            and visits.trip_id = tracked.trip_id
            and visits.line_code = tracked.line_code
            and visits.direction = tracked.direction
            and visits.replaced_seen_at <= tracked.tracked_from
    where visits.replaced_at is not null and visits.began_at is not null
),

announced_starts as (
    select
        operator,
        service_date,
        trip_id,
        line_code,
        direction,
        median(announced_start_at) as announced_start_at,
        count(*) as n_rows
    from handed_over
    group by operator, service_date, trip_id, line_code, direction
),

agreeing as (
    select
        handed_over.*,
        starts.n_rows,
        rules.handover_min_rows,
        rules.handover_share,
        rules.ruleset_version,
        case
            when
                abs({{ seconds_between('starts.announced_start_at', 'handed_over.announced_start_at') }})
                <= rules.match_theoretical_seconds
                then 1
            else 0
        end as is_agreeing
    from handed_over
    {{ join_rules('handed_over.service_date') }}
    inner join announced_starts as starts
        on
            handed_over.operator = starts.operator
            and handed_over.service_date = starts.service_date
            and handed_over.trip_id = starts.trip_id
            and handed_over.line_code = starts.line_code
            and handed_over.direction = starts.direction
),

counted as (
    select
        *,
        sum(is_agreeing) over (partition by operator, service_date, trip_id, line_code, direction) as n_agreeing
    from agreeing
)

select
    operator,
    service_date,
    listed_id,
    stop_code,
    visit_number,
    trip_id,
    replaced_at,
    -- one of those that most others of the trip agree with
    is_agreeing = 1 and n_agreeing >= handover_min_rows and n_agreeing >= handover_share * n_rows as is_announced,
    ruleset_version
from counted
