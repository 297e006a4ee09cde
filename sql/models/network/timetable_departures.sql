-- One row per operator, service_date, line, direction, service, departure, duplicate and validity: a departure of the
-- timetable, from when to when it was listed there.
{%- set of_date = is_built("try_cast(" ~ part('key', '/', 2) ~ " as date)") %}
with departures as (
    -- a timetable may list the same departure twice: two buses leave then
    select
        *,
        row_number() over (
            partition by operator, request_id, service_date, line_code, direction, service_code, departure_at
            order by departure_number, headsign, leg_description
        ) as duplicate_number
    from {{ ref('staging_timetables') }}
    where departure_at is not null and {{ is_built() }} and {{ is_received_around(days_before=15) }}
),

{{ validity(good_answers('timetables', 'key', of_date ~ ' and ' ~ is_received_around(days_before=15)), 'departures', [
    'service_date', 'line_code', 'direction', 'service_code', 'departure_at', 'duplicate_number', 'service_hour',
    'service_seconds', 'is_slash_variant', 'headsign', 'service_description', 'leg_description'
]) }},

described as (
    select
        *,
        -- departures of one leg serve the same stops, whatever service they belong to
        case when is_slash_variant then '/' else '' end || coalesce(leg_description, headsign, '') as leg,
        -- false when withdrawn before it was due
        coalesce(valid_to > departure_at, true) as is_in_force
    from validity
),

slots as (
    -- equal departures in force are numbered: as many trips may run as them
    select
        *,
        case
            when is_in_force
                then row_number() over (
                    partition by operator, service_date, line_code, direction, leg, departure_at, is_in_force
                    order by service_code, duplicate_number, valid_from
                )
        end as slot_number
    from described
),

headways as (
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        departure_at,
        least(
            {{ seconds_between('lag(departure_at) over leg_departures', 'departure_at') }},
            {{ seconds_between('departure_at', 'lead(departure_at) over leg_departures') }}
        ) as headway_seconds
    from slots
    where slot_number = 1
    window leg_departures as (
        partition by operator, service_date, line_code, direction, leg order by departure_at
    )
)

select
    {{ hashed_key([
        'slots.operator', 'slots.service_date', key_part('slots.line_code'), 'slots.direction',
        "coalesce(slots.service_code, '')", 'slots.departure_at', 'slots.duplicate_number', 'slots.valid_from'
    ]) }} as departure_key,
    {{ scheduled_trip_id('slots') }} as trip_id_scheduled,
    slots.*,
    headways.headway_seconds
from slots
left join headways using (operator, service_date, line_code, direction, leg, departure_at)
