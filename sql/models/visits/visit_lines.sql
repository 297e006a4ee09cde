-- One row per operator, service_date, listed id, stop and visit: the line and direction it belongs to, if that is
-- clear.
-- The line that serves most stops of the id and destination decides. Where two serve as many, the stop and the
-- destination decide; where they do not, line and direction are null.
with possible as (
    select
        visits.listed_visit_key,
        visits.operator,
        visits.service_date,
        visits.listed_id,
        visits.stop_code,
        visits.line_label,
        coalesce(visits.destination, '') as destination,
        visits.expected_at,
        lines.line_code,
        lines.direction,
        lines.score,
        count(*) over (partition by visits.listed_visit_key) as n_possible
    from {{ built('listed_visits') }} as visits
    inner join {{ built('line_candidates') }} as lines using (operator, service_date, line_label, stop_code)
    where
        visits.is_slash_variant is not distinct from lines.is_slash_variant
        and coalesce(visits.destination, '') = coalesce(lines.destination, '')
),

under_way as (
    -- of several lines, those with a departure whose bus may be under way at that time
    select distinct
        possible.listed_visit_key,
        line_code,
        direction
    from possible
    cross join {{ ref('inference_parameters') }} as parameters
    inner join (
        select distinct
            operator,
            service_date,
            line_code,
            direction,
            last_position
        from {{ built('line_stops_of_day') }}
    ) as lines using (operator, service_date, line_code, direction)
    inner join {{ built('timetable_departures') }} as departures using (operator, service_date, line_code, direction)
    where
        possible.n_possible > 1
        and {{ seconds_between('departures.departure_at', 'possible.expected_at') }}
        between -parameters.match_early_seconds
        and lines.last_position * parameters.usual_step_seconds + parameters.match_late_seconds
),

candidates as (
    select *
    from (
        select
            possible.*,
            under_way.listed_visit_key is not null as is_under_way,
            count(under_way.listed_visit_key) over (partition by possible.listed_visit_key) as n_under_way
        from possible
        left join under_way using (listed_visit_key, line_code, direction)
    ) as checked
    where is_under_way or n_under_way = 0
),

lines_of_ids as (
    select
        *,
        row_number() over best_first as nth,
        n_stops > coalesce(lead(n_stops) over best_first, 0)
        or score - lead(score) over best_first >= 0.05 as is_clear
    from (
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
    ) as votes
    window best_first as (
        partition by operator, service_date, listed_id, line_label, destination
        order by n_stops desc, score desc, line_code nulls last, direction nulls last
    )
),

lines_of_visits as (
    select
        *,
        row_number() over best_first as nth,
        is_of_id = 1 or coalesce(score - lead(score) over best_first >= 0.05, true) as is_clear
    from (
        select
            candidates.*,
            case when lines_of_ids.nth = 1 and lines_of_ids.is_clear then 1 else 0 end as is_of_id
        from candidates
        inner join lines_of_ids using (operator, service_date, listed_id, line_label, destination, line_code, direction)
    ) as voted
    window best_first as (
        partition by listed_visit_key
        order by is_of_id desc, score desc, line_code nulls last, direction nulls last
    )
)

select
    visits.listed_visit_key,
    visits.service_date,
    lines.line_code,
    lines.direction
from {{ built('listed_visits') }} as visits
left join lines_of_visits as lines
    on visits.listed_visit_key = lines.listed_visit_key and lines.nth = 1 and lines.is_clear
