-- One row per operator, service_date, label, slash flag, destination, stop, line and direction: a line and direction
-- that the label may stand for.
-- The public number is no key: several lines share one, so the stop and the destination text decide.
{%- set label = "operator, service_date, line_label, is_slash_variant, destination" %}
with labels as (
    -- of the listings that visits are made of
    select
        {{ label }},
        stop_code,
        normal_label(line_label) as plain_label,
        plain_text(destination) as plain_destination
    from {{ ref('listings') }}
    where {{ is_built() }} and listed_id is not null and not is_wrapped
    group by {{ label }}, stop_code
),

lines_on_dates as (
    select
        lines.*,
        dates.service_date,
        case when lines.valid_from <= cast(dates.service_date + 1 as timestamp) then lines.valid_from end as known_from
    from (
        select distinct
            operator,
            service_date
        from labels
    ) as dates
    inner join {{ ref('lines') }} as lines using (operator)
),

lines_of_day as (
    -- as they were last known by the end of the day, or else as they were first known
    select *
    from {{ first_rows(
        'lines_on_dates', ['operator', 'service_date', 'line_code'], 'known_from desc nulls last, valid_from'
    ) }} as latest
),

stops as (
    select distinct
        stops.operator,
        stops.service_date,
        stops.line_code,
        stops.direction,
        stops.stop_code,
        normal_label(lines.line_number) as plain_number
    from {{ built('line_stops_of_day') }} as stops
    inner join lines_of_day as lines using (operator, service_date, line_code)
),

destinations as (
    -- of the line: which terminus belongs to which direction is not certain, and a headsign is of both
    select
        operator,
        service_date,
        line_code,
        plain_text(terminus_outbound) as plain_destination
    from lines_of_day
    union
    select
        operator,
        service_date,
        line_code,
        plain_text(terminus_inbound) as plain_destination
    from lines_of_day
    union
    select
        operator,
        service_date,
        line_code,
        plain_text(headsign) as plain_destination
    from {{ built('timetable_departures') }}
),

candidates as (
    select
        labels.*,
        stops.line_code,
        stops.direction,
        stops.plain_number = labels.plain_label
        || case when labels.is_slash_variant and labels.plain_label not like '%/' then '/' else '' end as is_exact
    from labels
    inner join stops using (operator, service_date, stop_code)
    where replace(labels.plain_label, '/', '') = replace(stops.plain_number, '/', '')
),

alike as (
    select
        operator,
        service_date,
        line_code,
        candidates.plain_destination,
        max(likeness(candidates.plain_destination, destinations.plain_destination)) as likeness
    from candidates
    inner join destinations using (operator, service_date, line_code)
    group by operator, service_date, line_code, candidates.plain_destination
),

counted as (
    -- of the stops that list this label and destination, how many the line and direction serves: they tell the
    -- direction. All of them is more evidence; only more than another line is less, because both lines may run
    select
        *,
        count(*) over (partition by {{ label }}, line_code, direction) as n_stops_served,
        {{ n_distinct_over('stop_code', 'partition by ' ~ label) }} as n_stops_listing
    from candidates
)

select
    {{ label }},
    counted.stop_code,
    line_code,
    counted.direction,
    {{ as_decimal(
        "coalesce(alike.likeness, 0) + case when counted.is_exact then 0.25 else 0 end"
        ~ " + 0.5 * counted.n_stops_served / counted.n_stops_listing"
        ~ " + case when counted.n_stops_served = counted.n_stops_listing then 0.5 else 0 end", 9, 3
    ) }} as score
from counted
left join alike using (operator, service_date, line_code, plain_destination)
