-- One row per operator, service_date and trip: what line it served, when it was seen, and how it ended.
with visits as (
    select
        *,
        case when n_polls > 0 then last_seen_at end as live_seen_at
    from {{ ref('stop_visits') }}
    where {{ is_built() }}
),

lines_of_trip as (
    select *
    from (
        select
            operator,
            service_date,
            trip_id,
            line_code,
            direction,
            row_number() over (
                partition by operator, service_date, trip_id order by count(*) desc, line_code, direction
            ) as nth
        from visits
        where line_code is not null
        group by operator, service_date, trip_id, line_code, direction
    ) as ranked
    where nth = 1
),

facts as (
    select
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
        -- still a timetable row shortly before it was due: nobody was tracking it
        max(
            case
                when {{ seconds_between('visits.last_seen_at', 'visits.scheduled_at') }} <= rules.never_tracked_seconds
                    then 1
                else 0
            end
        ) as is_due_untracked,
        count(visits.listed_trip_id) as n_listed,
        sum(visits.n_withdrawn_polls) as n_withdrawn_polls,
        max(rules.withdrawn_polls) as withdrawn_polls,
        max(visits.ruleset_version) as ruleset_version
    from visits
    {{ join_rules('visits.service_date') }}
    group by visits.operator, visits.service_date, visits.trip_id
)

select
    facts.operator,
    facts.service_date,
    facts.trip_id,
    lines_of_trip.line_code,
    lines_of_trip.direction,
    facts.line_label,
    matches.departure_at as scheduled_departure_at,
    matches.service_code,
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
    case
        when facts.n_live = 0 and facts.is_due_untracked = 1 then 'never_tracked'
        -- announced, and taken off the list well before it was due, by more than one answer; a row without an id may
        -- just as well have become a bus with one
        when facts.n_live = 0 and facts.n_listed > 0 and facts.n_withdrawn_polls >= facts.withdrawn_polls then 'not_run'
        when facts.n_live = 0 then 'not_observable'
        when facts.n_lost > 0 and coalesce(facts.last_passed_before <= facts.lost_after, true) then 'tracking_lost'
        when facts.n_passed > 0 then 'run'
        else 'not_observable'
    end as outcome,
    facts.ruleset_version
from facts
left join lines_of_trip
    on
        facts.operator = lines_of_trip.operator
        and facts.service_date = lines_of_trip.service_date
        and facts.trip_id = lines_of_trip.trip_id
left join {{ ref('departure_matches') }} as matches
    on
        facts.operator = matches.operator
        and facts.service_date = matches.service_date
        and facts.trip_id = matches.trip_id
        and {{ is_built('matches.service_date') }}
