-- One row per operator, service_date, label, slash flag, destination, stop, line and direction: a line and direction
-- that the label may stand for.
-- The public number is no key: several lines share one, so the stop and the destination text decide.
with labels as (
    select
        operator,
        service_date,
        line_label,
        is_slash_variant,
        destination,
        stop_code,
        {{ normal_label('line_label') }} as plain_label,
        {{ plain_text('destination') }} as plain_destination,
        count(*) as n_visits
    from {{ built('listed_visits') }}
    group by operator, service_date, line_label, is_slash_variant, destination, stop_code
),

days as (
    select distinct
        operator,
        service_date
    from labels
),

lines_of_day as (
    select *
    from (
        select
            days.service_date,
            lines.operator,
            lines.line_code,
            lines.terminus_outbound,
            lines.terminus_inbound,
            {{ normal_label('lines.line_number') }} as plain_number,
            row_number() over (
                partition by days.operator, days.service_date, lines.line_code
                order by
                    case when lines.valid_from <= cast(days.service_date + 1 as timestamp) then 0 else 1 end,
                    case
                        when lines.valid_from <= cast(days.service_date + 1 as timestamp) then lines.valid_from
                    end desc,
                    lines.valid_from
            ) as nth
        from days
        inner join {{ ref('lines') }} as lines using (operator)
    ) as ranked
    where nth = 1
),

stops_of_day as (
    select
        days.service_date,
        stops.operator,
        stops.line_code,
        stops.direction,
        stops.stop_code
    from days
    inner join {{ built('line_stops_of_day') }} as stops using (operator, service_date)
    group by days.service_date, stops.operator, stops.line_code, stops.direction, stops.stop_code
),

destinations as (
    -- of the line: which terminus belongs to which direction is not certain, and a headsign is of both
    select
        operator,
        service_date,
        line_code,
        {{ plain_text('terminus_outbound') }} as plain_destination
    from lines_of_day
    union
    select
        operator,
        service_date,
        line_code,
        {{ plain_text('terminus_inbound') }} as plain_destination
    from lines_of_day
    union
    select
        operator,
        service_date,
        line_code,
        {{ plain_text('headsign') }} as plain_destination
    from {{ built('timetable_departures') }}
    where headsign is not null
),

candidates as (
    select
        labels.*,
        lines.line_code,
        stops.direction,
        case
            when lines.plain_number = labels.plain_label || case
                when labels.is_slash_variant and labels.plain_label not like '%/' then '/'
                else ''
            end then 1
            else 0
        end as is_exact
    from labels
    inner join lines_of_day as lines using (operator, service_date)
    inner join stops_of_day as stops using (operator, service_date, line_code, stop_code)
    where replace(labels.plain_label, '/', '') = replace(lines.plain_number, '/', '')
),

alike as (
    select
        candidates.operator,
        candidates.service_date,
        candidates.line_code,
        candidates.plain_destination,
        max({{ likeness('candidates.plain_destination', 'destinations.plain_destination') }}) as likeness
    from (
        select distinct
            operator,
            service_date,
            line_code,
            plain_destination
        from candidates
    ) as candidates
    inner join destinations using (operator, service_date, line_code)
    group by
        candidates.operator, candidates.service_date, candidates.line_code, candidates.plain_destination
),

counted as (
    -- of the stops that list this label and destination, how many the line and direction serves: they tell the
    -- direction. All of them is more evidence; only more than another line is less, because both lines may run
    select
        *,
        count(*) over (
            partition by operator, service_date, line_label, is_slash_variant, destination, line_code, direction
        ) as n_stops_served,
        count(distinct stop_code) over (
            partition by operator, service_date, line_label, is_slash_variant, destination
        ) as n_stops_listing
    from candidates
)

select
    counted.operator,
    counted.service_date,
    counted.line_label,
    counted.is_slash_variant,
    counted.destination,
    counted.stop_code,
    counted.n_visits,
    counted.line_code,
    counted.direction,
    cast(
        coalesce(alike.likeness, 0)
        + 0.25 * counted.is_exact
        + 0.5 * counted.n_stops_served / counted.n_stops_listing
        + case when counted.n_stops_served = counted.n_stops_listing then 0.5 else 0 end as decimal(9, 3)
    ) as score
from counted
left join alike using (operator, service_date, line_code, plain_destination)
