-- One row per operator, service_date, line, direction and leg: the positions at which it begins and ends, as far as the
-- stops that its text names are known. The interface does not say which they are.
-- The text of a leg ends in a destination that stops list; what stands before it names the origin. That is the stop
-- that lists buses to this destination first, and as due at just the times of the departures. A name stands for one
-- stop on all lines, except where the departures of a line tell another.
{%- set way = "operator, service_date, line_code, direction" %}
with visits as (
    select
        {{ way }},
        plain_text(destination) as destination_name,
        position,
        stop_code,
        theoretical_at,
        -- where an earlier stop lists the bus, it does not begin here
        position = min(position) over (partition by {{ way }}, trip_key) as is_first
    from {{ built('visit_trips') }}
    where position is not null
),

legs as (
    select distinct
        {{ way }},
        leg,
        departure_at,
        plain_text(leg) as plain_leg,
        plain_text(headsign) as plain_headsign
    from {{ built('timetable_departures') }}
    where is_in_force
),

destinations as (
    -- what stops list; a headsign may be that of the other direction
    select
        {{ way }},
        legs.leg,
        visits.destination_name,
        true as is_listed
    from (select distinct {{ way }}, leg, plain_leg from legs) as legs
    inner join (select distinct {{ way }}, destination_name from visits) as visits using ({{ way }})
    where visits.destination_name != '' and legs.plain_leg like '%' || visits.destination_name
    union all
    select
        {{ way }},
        leg,
        plain_headsign as destination_name,
        false as is_listed
    from legs
    where plain_leg like '%' || plain_headsign
),

leg_destinations as (
    {{ first_rows('destinations', ['operator', 'service_date', 'line_code', 'direction', 'leg'],
        'is_listed desc, length(destination_name) desc, destination_name') }}
),

departures as (
    select distinct
        {{ way }},
        legs.leg,
        legs.departure_at,
        left(legs.plain_leg, length(legs.plain_leg) - length(leg_destinations.destination_name)) as origin_name,
        coalesce(leg_destinations.destination_name, legs.plain_headsign) as destination_name
    from legs
    left join leg_destinations using ({{ way }}, leg)
),

listed as (
    -- how many buses of its destinations a stop lists first, and how many of these as due at the time of a departure
    select
        {{ way }},
        origin_name as stop_name,
        visits.stop_code,
        count(*) as n_listed,
        count(times.is_departing) as n_departing
    from visits
    inner join (select distinct {{ way }}, origin_name, destination_name from departures) as ways
        using ({{ way }}, destination_name)
    left join (
        select distinct
            {{ way }},
            origin_name,
            destination_name,
            departure_at as theoretical_at,
            true as is_departing
        from departures
    ) as times using ({{ way }}, origin_name, destination_name, theoretical_at)
    where theoretical_at is not null and visits.is_first and origin_name != ''
    group by {{ way }}, origin_name, visits.stop_code
),

named as (
    select * from listed
    union all
    select
        operator,
        service_date,
        cast(null as string) as line_code,
        cast(null as string) as direction,
        stop_name,
        stop_code,
        sum(n_listed) as n_listed,
        sum(n_departing) as n_departing
    from listed
    group by operator, service_date, stop_name, stop_code
),

named_stops as (
    -- by name, for a line where its own departures tell, and for all lines
    select
        names.*,
        names.line_code is not null as is_of_line
    from {{ first_rows('named', ['operator', 'service_date', 'line_code', 'direction', 'stop_name'],
        'n_departing desc, stop_code') }} as names
    cross join {{ ref('inference_parameters') }} as parameters
    where
        names.n_departing >= parameters.skipped_stop_trips and 2 * names.n_departing >= names.n_listed
        or names.n_departing > 1 and names.n_departing = names.n_listed
),

positions as (
    select
        stops.operator,
        stops.service_date,
        stops.line_code,
        stops.direction,
        named_stops.stop_name,
        named_stops.is_of_line,
        min(stops.position) as first_position,
        max(stops.position) as last_position
    from named_stops
    inner join {{ built('line_stops_of_day') }} as stops
        on
            named_stops.operator = stops.operator
            and named_stops.service_date = stops.service_date
            and named_stops.stop_code = stops.stop_code
            and coalesce(named_stops.line_code, stops.line_code) = stops.line_code
            and coalesce(named_stops.direction, stops.direction) = stops.direction
    group by
        stops.operator, stops.service_date, stops.line_code, stops.direction, named_stops.stop_name,
        named_stops.is_of_line
),

first_positions as (
    select * from {{ first_rows(
        'positions', ['operator', 'service_date', 'line_code', 'direction', 'stop_name'], 'is_of_line desc'
    ) }} as ranked
),

ends as (
    select
        {{ way }},
        legs.leg,
        origins.first_position as origin_position,
        coalesce(origins.is_of_line, false) as is_origin_observed,
        destinations.last_position as destination_position,
        last_listed.position as last_listed_position
    from (
        select distinct
            {{ way }},
            leg,
            origin_name,
            destination_name
        from departures
    ) as legs
    left join (
        select
            {{ way }},
            stop_name as origin_name,
            is_of_line,
            first_position
        from first_positions
    ) as origins using ({{ way }}, origin_name)
    left join (select {{ way }}, stop_name as destination_name, last_position from first_positions) as destinations
        using ({{ way }}, destination_name)
    left join (
        select
            {{ way }},
            destination_name,
            max(position) as position
        from visits
        group by {{ way }}, destination_name
    ) as last_listed using ({{ way }}, destination_name)
)

select
    {{ way }},
    leg,
    origin_position,
    is_origin_observed,
    -- a stop may stand in the list twice, or have another code where the leg ends: no bus to there is listed further on
    case
        when destination_position > coalesce(origin_position, 1)
            then greatest(destination_position, coalesce(last_listed_position, 0))
    end as destination_position
from ends
where origin_position is not null or destination_position is not null
