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
        coalesce(destination, '') as destination
    from {{ ref('visit_evidence') }}
    where {{ is_built() }}
),

candidates as (
    select
        visits.*,
        lines.line_code,
        lines.direction,
        lines.score
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
            visits.operator = candidates.operator
            and visits.service_date = candidates.service_date
            and visits.listed_id = candidates.listed_id
            and visits.stop_code = candidates.stop_code
            and visits.visit_number = candidates.visit_number
            and trip_lines.line_code = candidates.line_code
            and trip_lines.direction = candidates.direction
    left join stop_lines
        on
            visits.operator = stop_lines.operator
            and visits.service_date = stop_lines.service_date
            and visits.listed_id = stop_lines.listed_id
            and visits.stop_code = stop_lines.stop_code
            and visits.visit_number = stop_lines.visit_number
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
