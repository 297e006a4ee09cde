-- One row per operator, service_date, line, direction, service, departure, duplicate and validity: a departure of the
-- timetable, from when to when it was listed there.
{%- set departure = ['service_date', 'line_code', 'direction', 'departure_at', 'repeat_number'] %}
with departures as (
    -- a timetable may list the same departure twice: two buses leave then
    select
        *,
        row_number() over (
            partition by operator, request_id, service_date, line_code, direction, service_code, departure_at
            order by departure_number, headsign, leg_description
        ) as duplicate_number,
        row_number() over (
            partition by operator, request_id, service_date, line_code, direction, departure_at
            order by service_code nulls last, departure_number, headsign nulls last, leg_description nulls last
        ) as repeat_number
    from {{ ref('staging_timetables') }}
    where departure_at is not null and {{ is_built() }} and {{ is_received_around(days_before=15) }}
),

answers as (
    select
        operator,
        service_date || '/' || line_code as stream,
        service_date,
        line_code,
        request_id,
        received_at,
        proves_absence
    from {{ built('timetable_proofs') }}
),

{{ validity('answers', 'departures', departure + [
    'service_code', 'duplicate_number', 'service_hour', 'service_seconds', 'is_slash_variant', 'headsign',
    'service_description', 'leg_description'
], proof='proves_absence', identity=departure, until='departure_at') }},

proofs as (
    -- the last answer before a validity begins that proves that what it does not list was not there
    select
        beginnings.operator,
        beginnings.service_date,
        beginnings.line_code,
        beginnings.valid_from,
        max(answers.received_at) as previous_proof_at
    from (
        select distinct
            operator,
            service_date,
            line_code,
            valid_from
        from validity
    ) as beginnings
    inner join answers using (operator, service_date, line_code)
    where answers.proves_absence and answers.received_at < beginnings.valid_from
    group by beginnings.operator, beginnings.service_date, beginnings.line_code, beginnings.valid_from
),

listings as (
    -- a departure has several validities when its sign or service was edited, or when it was not listed for a while
    select
        validity.*,
        proofs.previous_proof_at,
        min(valid_from) over departure as first_listed_at,
        max(coalesce(valid_to, timestamp '9999-12-31')) over departure as last_listed_until,
        min(previous_proof_at) over departure as first_absent_at,
        -- the validity at its time: the last that had begun, or else the first that began later
        row_number() over (
            partition by operator, {{ departure | join(", ") }}
            order by
                case when valid_from <= departure_at then 0 else 1 end,
                abs(seconds_between(valid_from, departure_at))
        ) as nearest_number
    from validity
    left join proofs using (operator, service_date, line_code, valid_from)
    window departure as (partition by operator, {{ departure | join(", ") }})
),

described as (
    select
        * {{ exclude("first_listed_at, last_listed_until, first_absent_at, nearest_number") }},
        -- departures of one leg serve the same stops, whatever service they belong to
        case when is_slash_variant then '/' else '' end || coalesce(leg_description, headsign, '') as leg,
        case
            when last_listed_until <= departure_at then 'withdrawn'
            -- an earlier answer about the line and date proves that it was not there
            when first_listed_at > departure_at and first_absent_at < first_listed_at then 'added_late'
            when nearest_number > 1 then 'edited'
        end as not_in_force_reason,
        not_in_force_reason is null as is_in_force
    from listings
),

slots as (
    -- equal departures in force are numbered: as many trips may run as them
    select
        *,
        case
            when is_in_force
                then row_number() over (
                    partition by operator, service_date, line_code, direction, leg, departure_at, is_in_force
                    order by service_code nulls last, duplicate_number, valid_from
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
            seconds_between(lag(departure_at) over leg_departures, departure_at),
            seconds_between(departure_at, lead(departure_at) over leg_departures)
        ) as headway_seconds
    from slots
    where slot_number = 1
    window leg_departures as (
        partition by operator, service_date, line_code, direction, leg order by departure_at
    )
)

select
    key_of(
        concat_ws(
            '|', slots.operator, slots.service_date, key_part(slots.line_code), slots.direction,
            coalesce(slots.service_code, ''), slots.departure_at, slots.duplicate_number, slots.valid_from
        )
    ) as departure_key,
    {{ scheduled_trip_id('slots') }} as trip_id_scheduled,
    slots.*,
    headways.headway_seconds
from slots
left join headways using (operator, service_date, line_code, direction, leg, departure_at)
