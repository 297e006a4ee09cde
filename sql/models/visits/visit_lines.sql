-- One row per operator, service_date, listed id, stop and visit: the line and direction it belongs to, if that is
-- clear.
-- The line decides that serves most stops of the id and destination, in the order in which the bus comes to them. Where
-- two serve as many, it is that on which the bus is due at the first stop when a departure leaves there; else the
-- destination decides: by its likeness, and by the direction of the ids that have it and are clear. Where that does not
-- decide either, line and direction are null.
{%- set id = "operator, service_date, listed_id, line_label, destination" %}
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
        visits.theoretical_at,
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
        and seconds_between(departures.departure_at, possible.expected_at)
        between -parameters.match_early_seconds
        and lines.last_position * parameters.usual_step_seconds + parameters.latest_bus_seconds
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

steps as (
    -- whether the bus came to the stops in their order: 1 if the next one lies ahead, -1 if behind; null at the first,
    -- and of anonymous rows, whose id is only a time
    select
        *,
        sign(position - lag(position) over (
            partition by {{ id }}, line_code, direction, position is null order by expected_at, listed_visit_key
        )) as step
    from (
        select
            candidates.*,
            stops.position,
            case when stops.position = 1 and departures.departure_at is not null then 1 else 0 end as is_departing
        from candidates
        left join {{ built('line_stops_of_day') }} as stops
            on
                candidates.operator = stops.operator
                and candidates.service_date = stops.service_date
                and candidates.line_code = stops.line_code
                and candidates.direction = stops.direction
                and candidates.stop_code = stops.stop_code
                and stops.n_occurrences = 1
                and candidates.listed_id not like '@%'
        left join (
            select distinct
                operator,
                service_date,
                line_code,
                direction,
                departure_at
            from {{ built('timetable_departures') }}
        ) as departures
            on
                candidates.operator = departures.operator
                and candidates.service_date = departures.service_date
                and candidates.line_code = departures.line_code
                and candidates.direction = departures.direction
                and candidates.theoretical_at = departures.departure_at
    ) as placed
),

lines_of_ids as (
    select
        *,
        row_number() over best_first as nth,
        is_in_order > coalesce(lead(is_in_order) over best_first, 0)
        or n_stops > coalesce(lead(n_stops) over best_first, 0)
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
            case when sum(step) < 0 then 0 else 1 end as is_in_order,
            count(distinct stop_code) as n_stops,
            sum(score) / count(*) + coalesce(sum(step) / count(step), 0) + max(is_departing) as score
        from steps
        group by {{ id }}, line_code, direction
    ) as votes
    window best_first as (
        partition by {{ id }}
        order by is_in_order desc, n_stops desc, score desc, line_code nulls last, direction nulls last
    )
),

usual_lines as (
    -- the line and direction of nearly all ids that are clear with a destination
    select
        shares.operator,
        shares.service_date,
        shares.line_label,
        shares.destination,
        shares.line_code,
        shares.direction,
        shares.id_share
    from (
        select
            operator,
            service_date,
            line_label,
            destination,
            line_code,
            direction,
            cast(count(*) as double) / sum(count(*)) over (
                partition by operator, service_date, line_label, destination
            ) as id_share
        from lines_of_ids
        where nth = 1 and is_clear
        group by operator, service_date, line_label, destination, line_code, direction
    ) as shares
    cross join {{ ref('inference_parameters') }} as parameters
    where shares.id_share >= parameters.usual_line_share
),

lines_of_visits as (
    select
        *,
        row_number() over best_first as nth,
        is_of_id = 1 or coalesce(score - lead(score) over best_first >= 0.05, true) as is_clear
    from (
        select
            candidates.* {{ exclude("score") }},
            candidates.score + coalesce(usual_lines.id_share, 0) as score,
            case when lines_of_ids.nth = 1 and lines_of_ids.is_clear then 1 else 0 end as is_of_id
        from candidates
        inner join lines_of_ids using ({{ id }}, line_code, direction)
        left join usual_lines using (operator, service_date, line_label, destination, line_code, direction)
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
