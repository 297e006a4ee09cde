-- One row per operator, service_date, listed id, stop and visit: the trip it belongs to, and its place on the way.
-- Visits of one listed id belong to one trip when, less the time it takes to each stop, they began together: that
-- tells the trips of a vehicle apart, those that share a number, and the two times that a loop comes to a stop.
with visits as (
    select
        evidence.*,
        lines.line_code,
        lines.direction,
        coalesce(evidence.theoretical_at, evidence.last_predicted_at) as thought_at
    from {{ ref('visit_evidence') }} as evidence
    inner join {{ ref('visit_lines') }} as lines
        on
            {{ is_same_visit('evidence', 'lines', 'listed_id') }}
    where {{ is_built('evidence.service_date') }}
),

ways as (
    -- how soon a vehicle can begin the same way again: after coming round, or after going there and back
    select
        stops.operator,
        stops.service_date,
        stops.line_code,
        stops.direction,
        max(case when stops.is_circular then paces.pace_seconds else 2 * paces.pace_seconds end)
            as begins_again_seconds
    from {{ ref('line_stops_of_day') }} as stops
    inner join {{ ref('line_paces') }} as paces
        on
            stops.operator = paces.operator
            and stops.service_date = paces.service_date
            and stops.line_code = paces.line_code
            and stops.direction = paces.direction
            and stops.position = paces.position
    where {{ is_built('stops.service_date') }}
    group by stops.operator, stops.service_date, stops.line_code, stops.direction
),

candidates as (
    -- a stop that a direction serves twice makes two candidates
    select
        visits.*,
        stops.position,
        stops.stop_sequence,
        stops.occurrence,
        stops.n_occurrences,
        ways.begins_again_seconds,
        {{ add_seconds('visits.thought_at', '-paces.pace_seconds') }} as began_at
    from visits
    inner join {{ ref('line_stops_of_day') }} as stops
        on
            visits.operator = stops.operator
            and visits.service_date = stops.service_date
            and visits.line_code = stops.line_code
            and visits.direction = stops.direction
            and visits.stop_code = stops.stop_code
            and {{ is_built('stops.service_date') }}
    inner join {{ ref('line_paces') }} as paces
        on
            stops.operator = paces.operator
            and stops.service_date = paces.service_date
            and stops.line_code = paces.line_code
            and stops.direction = paces.direction
            and stops.position = paces.position
            and {{ is_built('paces.service_date') }}
    inner join ways
        on
            stops.operator = ways.operator
            and stops.service_date = ways.service_date
            and stops.line_code = ways.line_code
            and stops.direction = ways.direction
),

loop_calls as (
    -- of the two, the one that fits the rest of the trip
    select
        looped.operator,
        looped.service_date,
        looped.listed_id,
        looped.stop_code,
        looped.visit_number,
        looped.position,
        row_number() over (
            partition by
                looped.operator, looped.service_date, looped.listed_id, looped.stop_code, looped.visit_number
            order by
                min(abs({{ seconds_between('anchors.began_at', 'looped.began_at') }})) nulls last,
                -- a bus that is to come again is listed further on: seen here alone it comes for the last time
                case
                    when count(anchors.position) = 0 and max(looped.n_polls) > 0 then -looped.occurrence
                end nulls last,
                abs(looped.occurrence - looped.visit_number),
                looped.position
        ) as nth
    from candidates as looped
    left join candidates as anchors
        on
            looped.operator = anchors.operator
            and looped.service_date = anchors.service_date
            and looped.listed_id = anchors.listed_id
            and looped.line_code = anchors.line_code
            and looped.direction = anchors.direction
            and anchors.n_occurrences = 1
    where looped.n_occurrences > 1
    group by
        looped.operator, looped.service_date, looped.listed_id, looped.stop_code, looped.visit_number,
        looped.position, looped.occurrence
),

placed as (
    select candidates.*
    from candidates
    left join loop_calls
        on
            {{ is_same_visit('candidates', 'loop_calls', 'listed_id') }}
            and candidates.position = loop_calls.position
    where candidates.n_occurrences = 1 or loop_calls.nth = 1
),

runs as (
    select
        *,
        sum(is_apart) over (
            partition by operator, service_date, listed_id, line_code, direction
            order by began_at, position, visit_number
            rows between unbounded preceding and current row
        ) as run
    from (
        select
            placed.*,
            case
                when {{ seconds_between('lag(placed.began_at) over listed', 'placed.began_at') }}
                -- a trip may come much later to a stop than another stop announced
                > case
                    when lag(placed.theoretical_at) over listed is not null and placed.theoretical_at is null
                        then rules.run_late_seconds
                    else least(
                        rules.run_gap_seconds, greatest(placed.begins_again_seconds / 2, rules.upward_jump_seconds)
                    )
                end then 1
                else 0
            end as is_apart
        from placed
        {{ join_rules('placed.service_date') }}
        window listed as (
            partition by placed.operator, placed.service_date, placed.listed_id, placed.line_code, placed.direction
            order by placed.began_at, placed.position, placed.visit_number
        )
    ) as gaps
),

run_facts as (
    select
        operator,
        service_date,
        listed_id,
        line_code,
        direction,
        run,
        count(*) as n_visits,
        min(stop_code) as stop_code,
        min(position) as first_position,
        max(position) as last_position,
        max(begins_again_seconds) as begins_again_seconds,
        min(began_at) as first_at,
        min(thought_at) as first_thought_at,
        max(thought_at) as last_thought_at
    from runs
    group by operator, service_date, listed_id, line_code, direction, run
),

continued as (
    -- what goes on with the trip before: a loop that the stop list does not close, when the trip ends at the stop where
    -- it began; or stops further on that it came to soon after, too soon for having come round
    select
        firsts.*,
        coalesce(
            firsts.n_visits = 1
            and before.n_visits > 1
            and firsts.first_position <= before.first_position,
            false
        ) as is_closing,
        coalesce(
            firsts.first_position > before.last_position
            and {{ seconds_between('before.first_at', 'firsts.first_at') }} < firsts.begins_again_seconds,
            false
        ) as is_tail
    from run_facts as firsts
    {{ join_rules('firsts.service_date') }}
    left join run_facts as before
        on
            firsts.operator = before.operator
            and firsts.service_date = before.service_date
            and firsts.listed_id = before.listed_id
            and firsts.line_code = before.line_code
            and firsts.direction = before.direction
            and firsts.run = before.run + 1
            and {{ seconds_between('before.last_thought_at', 'firsts.first_thought_at') }}
            between 0 and rules.run_gap_seconds
),

closings as (
    select
        *,
        max(case when not is_closing and not is_tail then run end) over (
            partition by operator, service_date, listed_id, line_code, direction
            order by run rows between unbounded preceding and current row
        ) as trip_run
    from continued
),

trips as (
    select
        *,
        row_number() over (
            partition by operator, service_date, listed_id order by first_at, line_code, direction, run
        ) as nth,
        count(*) over (partition by operator, service_date, listed_id) as n_trips
    from closings
    where run = trip_run
),

named as (
    select
        runs.operator,
        runs.service_date,
        runs.listed_id,
        runs.stop_code,
        runs.visit_number,
        -- the list has no place for the second call
        case when not closings.is_closing then runs.position end as position,
        case when not closings.is_closing then runs.stop_sequence end as stop_sequence,
        case when not closings.is_closing then runs.began_at end as began_at,
        runs.thought_at,
        trips.nth,
        trips.n_trips
    from runs
    inner join closings
        on
            runs.operator = closings.operator
            and runs.service_date = closings.service_date
            and runs.listed_id = closings.listed_id
            and runs.line_code = closings.line_code
            and runs.direction = closings.direction
            and runs.run = closings.run
    inner join trips
        on
            runs.operator = trips.operator
            and runs.service_date = trips.service_date
            and runs.listed_id = trips.listed_id
            and runs.line_code = trips.line_code
            and runs.direction = trips.direction
            and closings.trip_run = trips.run
),

unplaced as (
    -- a visit of no clear line goes with the visit of its id that is nearest in time
    select
        visits.operator,
        visits.service_date,
        visits.listed_id,
        visits.stop_code,
        visits.visit_number,
        named.nth,
        named.n_trips,
        row_number() over (
            partition by
                visits.operator, visits.service_date, visits.listed_id, visits.stop_code, visits.visit_number
            order by abs({{ seconds_between('named.thought_at', 'visits.thought_at') }}), named.nth
        ) as nth_nearest
    from visits
    inner join named
        on
            visits.operator = named.operator
            and visits.service_date = named.service_date
            and visits.listed_id = named.listed_id
    where visits.line_code is null
)

select
    visits.operator,
    visits.service_date,
    visits.listed_id,
    visits.stop_code,
    visits.visit_number,
    visits.listed_id
    || case
        when coalesce(named.n_trips, unplaced.n_trips, 1) > 1
            then '~' || cast(coalesce(named.nth, unplaced.nth) as varchar)
        else ''
    end as trip_id,
    visits.line_code,
    visits.direction,
    named.position,
    named.stop_sequence,
    visits.thought_at,
    named.began_at,
    rules.ruleset_version
from visits
{{ join_rules('visits.service_date') }}
left join named
    on
        {{ is_same_visit('visits', 'named', 'listed_id') }}
left join unplaced
    on
        {{ is_same_visit('visits', 'unplaced', 'listed_id') }}
        and unplaced.nth_nearest = 1
