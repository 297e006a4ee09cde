-- One row per operator, service_date, listed id, stop and visit: the line and direction it belongs to, if clear.
-- The line that serves most stops of the id and destination decides; where that leaves two, the stop and destination
-- do, or nobody.
with visits as (
    select
        operator,
        service_date,
        listed_id,
        stop_code,
        visit_number,
        line_label,
        is_slash_variant,
        coalesce(destination, '') as destination,
        coalesce(theoretical_at, last_predicted_at) as thought_at
    from {{ ref('visit_evidence') }}
    where {{ is_built() }}
),

line_days as (
    select
        operator,
        service_date,
        line_code,
        direction,
        max(last_position) as last_position
    from {{ ref('line_stops_of_day') }}
    where {{ is_built() }}
    group by operator, service_date, line_code, direction
),

possible as (
    select
        visits.*,
        lines.line_code,
        lines.direction,
        lines.score,
        count(*) over (
            partition by
                visits.operator, visits.service_date, visits.listed_id, visits.stop_code, visits.visit_number
        ) as n_possible
    from visits
    inner join {{ ref('line_candidates') }} as lines
        on
            visits.operator = lines.operator
            and visits.service_date = lines.service_date
            and visits.line_label = lines.line_label
            and visits.is_slash_variant is not distinct from lines.is_slash_variant
            and visits.destination = coalesce(lines.destination, '')
            and visits.stop_code = lines.stop_code
            and {{ is_built('lines.service_date') }}
),

on_their_way as (
    -- of several lines, those of which a bus that left by the timetable may be under way at that time
    select distinct
        possible.operator,
        possible.service_date,
        possible.listed_id,
        possible.stop_code,
        possible.visit_number,
        possible.line_code,
        possible.direction
    from possible
    {{ join_rules('possible.service_date') }}
    inner join line_days
        on
            possible.operator = line_days.operator
            and possible.service_date = line_days.service_date
            and possible.line_code = line_days.line_code
            and possible.direction = line_days.direction
    inner join {{ ref('timetable_departures') }} as departures
        on
            possible.operator = departures.operator
            and possible.service_date = departures.service_date
            and possible.line_code = departures.line_code
            and possible.direction = departures.direction
            and {{ is_built('departures.service_date') }}
            and {{ seconds_between('departures.departure_at', 'possible.thought_at') }}
            between -rules.match_early_seconds
            and line_days.last_position * rules.step_usual_seconds + rules.match_late_seconds
    where possible.n_possible > 1
),

candidates as (
    select *
    from (
        select
            possible.*,
            due.line_code is not null as is_due,
            count(due.line_code) over (
                partition by
                    possible.operator, possible.service_date, possible.listed_id, possible.stop_code,
                    possible.visit_number
            ) as n_due
        from possible
        left join on_their_way as due
            on
                {{ is_same_visit('possible', 'due', 'listed_id') }}
                and possible.line_code = due.line_code
                and possible.direction = due.direction
    ) as told
    where is_due or n_due = 0
),

votes as (
    select
        operator,
        service_date,
        listed_id,
        line_label,
        destination,
        line_code,
        direction,
        count(distinct stop_code) as n_stops,
        sum(score) / count(*) as score
    from candidates
    group by operator, service_date, listed_id, line_label, destination, line_code, direction
),

trip_lines as (
    select *
    from (
        select
            *,
            row_number() over best_first as nth,
            n_stops > coalesce(lead(n_stops) over best_first, 0)
            or score - lead(score) over best_first >= 0.05 as is_clear
        from votes
        window best_first as (
            partition by operator, service_date, listed_id, line_label, destination
            order by n_stops desc, score desc, line_code, direction
        )
    ) as ranked
    where nth = 1 and is_clear
),

stop_lines as (
    select *
    from (
        select
            *,
            row_number() over best_first as nth,
            count(*) over (partition by operator, service_date, listed_id, stop_code, visit_number) as n_candidates,
            coalesce(score - lead(score) over best_first >= 0.05, true) as is_clear
        from candidates
        window best_first as (
            partition by operator, service_date, listed_id, stop_code, visit_number
            order by score desc, line_code, direction
        )
    ) as ranked
    where nth = 1
),

chosen as (
    select
        visits.operator,
        visits.service_date,
        visits.listed_id,
        visits.stop_code,
        visits.visit_number,
        coalesce(stop_lines.n_candidates, 0) as n_candidates,
        case
            when candidates.line_code is not null then candidates.line_code
            when stop_lines.is_clear then stop_lines.line_code
        end as line_code,
        case
            when candidates.line_code is not null then candidates.direction
            when stop_lines.is_clear then stop_lines.direction
        end as direction
    from visits
    left join trip_lines
        on
            visits.operator = trip_lines.operator
            and visits.service_date = trip_lines.service_date
            and visits.listed_id = trip_lines.listed_id
            and visits.line_label = trip_lines.line_label
            and visits.destination = trip_lines.destination
    left join candidates
        on
            {{ is_same_visit('visits', 'candidates', 'listed_id') }}
            and trip_lines.line_code = candidates.line_code
            and trip_lines.direction = candidates.direction
    left join stop_lines
        on
            {{ is_same_visit('visits', 'stop_lines', 'listed_id') }}
)

select
    operator,
    service_date,
    listed_id,
    stop_code,
    visit_number,
    n_candidates,
    line_code,
    direction
from chosen
