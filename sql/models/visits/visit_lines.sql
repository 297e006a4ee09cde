-- One row per operator, service_date, listed id, stop and visit: the line and direction it belongs to, if that is
-- clear.
-- The line that serves most stops of the id and destination decides. Where two serve as many, the stop and the
-- destination decide; where they do not, line and direction are null.
with visits as (
    select
        listed_visit_key,
        operator,
        service_date,
        listed_id,
        stop_code,
        line_label,
        is_slash_variant,
        coalesce(destination, '') as destination,
        expected_at
    from {{ built('listed_visits') }}
),

line_days as (
    select
        operator,
        service_date,
        line_code,
        direction,
        max(last_position) as last_position
    from {{ built('line_stops_of_day') }}
    group by operator, service_date, line_code, direction
),

possible as (
    select
        visits.*,
        lines.line_code,
        lines.direction,
        lines.score,
        count(*) over (partition by visits.listed_visit_key) as n_possible
    from visits
    inner join {{ built('line_candidates') }} as lines
        on
            visits.operator = lines.operator
            and visits.service_date = lines.service_date
            and visits.line_label = lines.line_label
            and visits.is_slash_variant is not distinct from lines.is_slash_variant
            and visits.destination = coalesce(lines.destination, '')
            and visits.stop_code = lines.stop_code
),

under_way as (
    -- of several lines, those with a departure whose bus may be under way at that time
    select distinct
        possible.listed_visit_key,
        possible.line_code,
        possible.direction
    from possible
    cross join {{ ref('inference_parameters') }} as parameters
    inner join line_days using (operator, service_date, line_code, direction)
    inner join {{ built('timetable_departures') }} as departures
        on
            possible.operator = departures.operator
            and possible.service_date = departures.service_date
            and possible.line_code = departures.line_code
            and possible.direction = departures.direction
            and {{ seconds_between('departures.departure_at', 'possible.expected_at') }}
            between -parameters.match_early_seconds
            and line_days.last_position * parameters.usual_step_seconds + parameters.match_late_seconds
    where possible.n_possible > 1
),

candidates as (
    select *
    from (
        select
            possible.*,
            under_way.line_code is not null as is_under_way,
            count(under_way.line_code) over (partition by possible.listed_visit_key) as n_under_way
        from possible
        left join under_way using (listed_visit_key, line_code, direction)
    ) as checked
    where is_under_way or n_under_way = 0
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

lines_by_trip as (
    select
        candidates.listed_visit_key,
        candidates.line_code,
        candidates.direction
    from candidates
    inner join trip_lines
        using (operator, service_date, listed_id, line_label, destination, line_code, direction)
),

lines_by_stop as (
    select *
    from (
        select
            *,
            row_number() over best_first as nth,
            coalesce(score - lead(score) over best_first >= 0.05, true) as is_clear
        from candidates
        window best_first as (partition by listed_visit_key order by score desc, line_code, direction)
    ) as ranked
    where nth = 1 and is_clear
)

select
    visits.listed_visit_key,
    visits.service_date,
    coalesce(lines_by_trip.line_code, lines_by_stop.line_code) as line_code,
    coalesce(lines_by_trip.direction, lines_by_stop.direction) as direction
from visits
left join lines_by_trip using (listed_visit_key)
left join lines_by_stop using (listed_visit_key)
