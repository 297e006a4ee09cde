{{ config(schema='core') }}
-- One row per operator, service_date and trip: the line it served, when it was observed, and its outcome.
with visits as (
    select * from {{ built('stop_visits') }}
),

trip_lines as (
    select
        trip_key,
        line_code,
        direction,
        count(*) as n_visits
    from visits
    where line_code is not null
    group by trip_key, line_code, direction
),

pending as (
    select distinct
        operator,
        service_date,
        listed_id as listed_trip_id
    from {{ ref('pending_visits') }}
),

facts as (
    select
        visits.trip_key,
        visits.operator,
        visits.service_date,
        visits.trip_id,
        min(visits.line_label) as line_label,
        min(visits.first_seen_at) as first_seen_at,
        max(visits.last_seen_at) as last_seen_at,
        count(*) as n_visits,
        count(case when visits.n_polls > 0 then 1 end) as n_live,
        count(case when visits.passed_before is not null then 1 end) as n_passed,
        count(case when visits.arrival_quality = 'evidenced' then 1 end) as n_evidenced,
        count(case when visits.arrival_quality = 'bounded' then 1 end) as n_bounded,
        count(case when visits.is_lost then 1 end) as n_lost,
        max(case when visits.is_lost then visits.passed_after end) as lost_after,
        max(visits.passed_before) as last_passed_before,
        -- still a timetable row shortly before it was due: the bus was not tracked
        max(
            case
                when
                    seconds_between(visits.last_seen_at, visits.scheduled_at)
                    <= parameters.shortly_before_seconds
                    then 1
                else 0
            end
        ) as is_due_untracked,
        count(visits.listed_trip_id) as n_listed,
        count(pending.listed_trip_id) as n_pending,
        cast(sum(visits.n_withdrawn_polls) as bigint) as n_withdrawn_polls,
        max(parameters.fewest_agreeing) as fewest_agreeing,
        cast(round(max(seconds_between(visits.withdrawn_at, visits.scheduled_at))) as bigint)
            as withdrawn_ahead_seconds,
        max(parameters.earliest_bus_seconds) as earliest_bus_seconds,
        max(visits.ruleset_version) as ruleset_version
    from visits
    cross join {{ ref('inference_parameters') }} as parameters
    left join pending using (operator, service_date, listed_trip_id)
    group by visits.trip_key, visits.operator, visits.service_date, visits.trip_id
)

select
    facts.trip_key,
    facts.operator,
    facts.service_date,
    facts.trip_id,
    {{ performed_trip_id('facts') }} as trip_id_performed,
    departures.trip_id_scheduled,
    trip_lines.line_code,
    trip_lines.direction,
    facts.line_label,
    matches.departure_at as scheduled_departure_at,
    departures.service_code,
    matches.match_score,
    facts.first_seen_at,
    facts.last_seen_at,
    facts.n_visits,
    facts.n_live,
    facts.n_passed,
    facts.n_evidenced,
    facts.n_bounded,
    facts.n_lost,
    facts.n_withdrawn_polls,
    facts.withdrawn_ahead_seconds,
    case
        when facts.n_live = 0 and facts.is_due_untracked = 1 then 'never_tracked'
        -- announced with its id, and missing from several answers so long before it was due that it cannot have passed
        -- early and unseen; an anonymous row may just as well have been replaced by a live bus, and a bus that skips a
        -- stop be live at others
        when
            facts.n_live = 0
            and facts.n_listed > 0
            and facts.n_pending = 0
            and facts.n_withdrawn_polls >= facts.fewest_agreeing
            and facts.withdrawn_ahead_seconds >= facts.earliest_bus_seconds
            then 'not_run'
        when facts.n_live = 0 then 'not_observable'
        when facts.n_lost > 0 and coalesce(facts.last_passed_before <= facts.lost_after, true) then 'tracking_lost'
        when facts.n_passed > 0 then 'run'
        else 'not_observable'
    end as outcome,
    facts.ruleset_version
from facts
left join {{ first_rows('trip_lines', ['trip_key'], 'n_visits desc, line_code, direction') }} as trip_lines
    using (trip_key)
left join {{ built('departure_matches') }} as matches using (trip_key)
left join {{ built('timetable_departures') }} as departures using (departure_key)
