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
    from {{ ref('visit_evidence') }}
    where {{ is_built() }}
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
        inner join {{ ref('lines') }} as lines on days.operator = lines.operator
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
    inner join {{ ref('line_stops_of_day') }} as stops
        on days.operator = stops.operator and days.service_date = stops.service_date
    where {{ is_built('stops.service_date') }}
    group by days.service_date, stops.operator, stops.line_code, stops.direction, stops.stop_code
),

destinations as (
    select
        operator,
        service_date,
        line_code,
        'outbound' as direction,
        {{ plain_text('terminus_outbound') }} as plain_destination
    from lines_of_day
    union
    select
        operator,
        service_date,
        line_code,
        'inbound' as direction,
        {{ plain_text('terminus_inbound') }} as plain_destination
    from lines_of_day
    union
    select
        operator,
        service_date,
        line_code,
        direction,
        {{ plain_text('headsign') }} as plain_destination
    from {{ ref('timetable_departures') }}
    where {{ is_built() }} and headsign is not null
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
    inner join lines_of_day as lines
        on
            labels.operator = lines.operator
            and labels.service_date = lines.service_date
            and replace(labels.plain_label, '/', '') = replace(lines.plain_number, '/', '')
    inner join stops_of_day as stops
        on
            lines.operator = stops.operator
            and lines.service_date = stops.service_date
            and lines.line_code = stops.line_code
            and labels.stop_code = stops.stop_code
),

alike as (
    select
        candidates.operator,
        candidates.service_date,
        candidates.line_code,
        candidates.direction,
        candidates.plain_destination,
        max({{ likeness('candidates.plain_destination', 'destinations.plain_destination') }}) as likeness
    from (
        select distinct
            operator,
            service_date,
            line_code,
            direction,
            plain_destination
        from candidates
    ) as candidates
    inner join destinations
        on
            candidates.operator = destinations.operator
            and candidates.service_date = destinations.service_date
            and candidates.line_code = destinations.line_code
            and candidates.direction = destinations.direction
    group by
        candidates.operator, candidates.service_date, candidates.line_code, candidates.direction,
        candidates.plain_destination
),

stops_served as (
    -- of the stops that list this label and destination, how many the line and direction serves: all of them is
    -- evidence for it; only more than another line is not, because both lines may run
    select
        operator,
        service_date,
        line_label,
        is_slash_variant,
        destination,
        line_code,
        direction,
        count(distinct stop_code) as n_stops
    from candidates
    group by operator, service_date, line_label, is_slash_variant, destination, line_code, direction
),

stops_listing as (
    select
        operator,
        service_date,
        line_label,
        is_slash_variant,
        destination,
        count(distinct stop_code) as n_stops
    from candidates
    group by operator, service_date, line_label, is_slash_variant, destination
)

select
    candidates.operator,
    candidates.service_date,
    candidates.line_label,
    candidates.is_slash_variant,
    candidates.destination,
    candidates.stop_code,
    candidates.n_visits,
    candidates.line_code,
    candidates.direction,
    cast(
        coalesce(alike.likeness, 0)
        + 0.25 * candidates.is_exact
        + case when stops_served.n_stops = stops_listing.n_stops then 0.5 else 0 end as decimal(9, 3)
    ) as score
from candidates
inner join stops_served
    on
        candidates.operator = stops_served.operator
        and candidates.service_date = stops_served.service_date
        and candidates.line_label = stops_served.line_label
        and candidates.is_slash_variant is not distinct from stops_served.is_slash_variant
        and candidates.destination is not distinct from stops_served.destination
        and candidates.line_code = stops_served.line_code
        and candidates.direction = stops_served.direction
inner join stops_listing
    on
        candidates.operator = stops_listing.operator
        and candidates.service_date = stops_listing.service_date
        and candidates.line_label = stops_listing.line_label
        and candidates.is_slash_variant is not distinct from stops_listing.is_slash_variant
        and candidates.destination is not distinct from stops_listing.destination
left join alike
    on
        candidates.operator = alike.operator
        and candidates.service_date = alike.service_date
        and candidates.line_code = alike.line_code
        and candidates.direction = alike.direction
        and candidates.plain_destination = alike.plain_destination
