-- One row per operator, service_date, line, direction and leg: the positions at which it begins and ends, as far as the
-- stops that its text names are known. The interface does not say which they are.
-- The text of a leg ends in the destination; what stands before it names the origin. That is the stop that lists buses
-- to this destination as due at just the times of the departures.
{%- set way = "operator, service_date, line_code, direction" %}
with departures as (
    select distinct
        {{ way }},
        leg,
        departure_at,
        case
            when plain_leg like '%' || destination_name
                then left(plain_leg, length(plain_leg) - length(destination_name))
        end as origin_name,
        destination_name
    from (
        select
            *,
            {{ plain_text('leg') }} as plain_leg,
            {{ plain_text('headsign') }} as destination_name
        from {{ built('timetable_departures') }}
        where is_in_force
    ) as named
),

visits as (
    select
        {{ way }},
        {{ plain_text('destination') }} as destination_name,
        position,
        stop_code,
        theoretical_at
    from {{ built('visit_trips') }}
    where position is not null
),

listed as (
    -- how many buses of its destinations a stop lists, and how many of these as due at the time of a departure
    select
        operator,
        service_date,
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
    where theoretical_at is not null
    group by operator, service_date, origin_name, visits.stop_code
),

positions as (
    -- of the stops whose names are known
    select
        {{ way }},
        names.stop_name,
        min(stops.position) as first_position,
        max(stops.position) as last_position
    from {{ first_rows('listed', ['operator', 'service_date', 'stop_name'], 'n_departing desc, stop_code') }} as names
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ built('line_stops_of_day') }} as stops using (operator, service_date, stop_code)
    where
        names.n_departing >= parameters.skipped_stop_trips
        and 2 * names.n_departing >= names.n_listed
        and names.stop_name != ''
    group by {{ way }}, names.stop_name
),

ends as (
    select
        {{ way }},
        legs.leg,
        origins.first_position as origin_position,
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
    left join (select {{ way }}, stop_name as origin_name, first_position from positions) as origins
        using ({{ way }}, origin_name)
    left join (select {{ way }}, stop_name as destination_name, last_position from positions) as destinations
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
    -- a stop may stand in the list twice, or have another code where the leg ends: no bus to there is listed further on
    case
        when destination_position > coalesce(origin_position, 1)
            then greatest(destination_position, coalesce(last_listed_position, 0))
    end as destination_position
from ends
where origin_position is not null or destination_position is not null
