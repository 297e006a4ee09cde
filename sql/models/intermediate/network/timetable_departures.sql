-- One row per operator, service_date, line, direction, service, departure, duplicate and validity:
-- what the timetables said.
with answers as (
    select
        operator,
        key as stream,
        request_id,
        received_at
    from {{ ref('staging_requests') }}
    where
        endpoint = 'timetables'
        and is_good
        and {{ is_built("try_cast(" ~ part('key', '/', 2) ~ " as date)") }}
        and {{ is_received_around(days_before=15) }}
),

departures as (
    -- a timetable may list the same departure twice: two buses leave
    select
        *,
        row_number() over (
            partition by operator, request_id, service_date, line_code, direction, service_code, departure_at
            order by departure_number, headsign, leg_description
        ) as duplicate_number
    from {{ ref('staging_timetables') }}
    where
        departure_at is not null
        and {{ is_built() }}
        and {{ is_received_around(days_before=15) }}
),

{{ validity('answers', 'departures', [
    'service_date', 'line_code', 'direction', 'service_code', 'departure_at', 'duplicate_number', 'service_hour',
    'service_seconds', 'is_slash_variant', 'headsign', 'service_description', 'leg_description'
]) }}

select
    operator,
    service_date,
    line_code,
    direction,
    service_code,
    departure_at,
    duplicate_number,
    valid_from,
    valid_to,
    is_current,
    service_hour,
    service_seconds,
    is_slash_variant,
    headsign,
    service_description,
    leg_description,
    -- departures of one leg call at the same stops, whatever service they belong to
    case when is_slash_variant then '/' else '' end || coalesce(leg_description, headsign, '') as leg,
    -- withdrawn before it was due, it was no longer promised
    coalesce(valid_to > departure_at, true) as is_in_force
from validity
