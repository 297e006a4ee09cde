-- One row per departure listed. `legs` has one row per direction of a service; a leg with an empty
-- description is junk: it gives no departures here and is counted in the validation results.
create or replace temp table legs as
with read as (
    select
        operator, request_id, "window", received_at,
        regexp_extract("key", '^(.*)/[^/]*$', 1) as line_code,
        try_cast(regexp_extract("key", '/(\d{4}-\d{2}-\d{2})$', 1) as date) as service_date,
        try(body::json) as b
    from raw
    where is_read
),
services as (
    select
        * exclude (b),
        left_over(b, map {'linea': 'text', 'data': 'text', 'servizi': 'list'}, 'answer.')
        || odd_member(as_text(b -> 'linea') <> line_code, 'answer.linea', b -> 'linea')
        || odd_member(as_text(b -> 'data') <> service_date::varchar, 'answer.data', b -> 'data') as answer_members,
        unnest(range(1, json_array_length(b -> 'servizi')::bigint + 1)) as service_number,
        unnest(as_list(b -> 'servizi')) as s
    from read
    where json_type(b -> 'servizi') = 'ARRAY'
),
keyed as (
    select
        *,
        left_over(s, map {
            'codice': 'text', 'barrato': 'flag', 'targa': 'text', 'descrizione': 'text', 'tratte': 'object'
        }, 'service.') as service_members,
        unnest(list_distinct(json_keys(s -> 'tratte'))) as direction_key
    from services
),
shaped as (
    select
        *,
        json_extract(s -> 'tratte', json_pointer(direction_key)) as leg,
        json_type(leg) = 'OBJECT' and json_type(leg -> 'partenze') = 'ARRAY' as is_leg
    from keyed
)
select
    *,
    is_leg and trim(as_text(leg -> 'descrizione')) = '' as is_junk
from shaped;

create or replace temp table answers as
with listed as (
    select request_id, sum(json_array_length(leg -> 'partenze'))::bigint as n_rows
    from legs
    where is_leg and is_junk is distinct from true
    group by request_id
)
select
    raw.request_id,
    case when json_type(try(raw.body::json) -> 'servizi') = 'ARRAY' then coalesce(n_rows, 0) end as n_rows
from raw
left join listed on raw.request_id = listed.request_id
where raw.is_read;

with odd_legs as (
    select
        request_id, service_number,
        flatten(list(
            odd_member(not is_leg, 'service.tratte.' || direction_key, leg) order by direction_key
        )) as members
    from legs
    group by request_id, service_number
),
dates as (
    select distinct service_date, epoch_us(service_date::timestamp) as date_us from legs
),
early as (
    select dates.*, offsets.offset_us as early
    from dates asof left join offsets on dates.date_us - 172800000000 >= offsets.valid_from_us
),
zones as (
    select
        early.service_date,
        {early: early.early, late: offsets.offset_us, changed: offsets.valid_from_us} as zone
    from early asof left join offsets on early.date_us + 345600000000 >= offsets.valid_from_us
),
departures as (
    select
        * exclude (leg),
        leg -> 'descrizione' as description,
        left_over(leg, map {'descrizione': 'text', 'partenze': 'list'}, 'leg.') as leg_members,
        unnest(range(1, json_array_length(leg -> 'partenze')::bigint + 1)) as departure_number,
        as_text(unnest(as_list(leg -> 'partenze'))) as departure_text
    from legs
    where is_leg and is_junk is distinct from true
),
timed as (
    select
        departures.*,
        zones.zone,
        departure_us(departures.service_date, clock_us(departure_text), zones.zone) as departure_us
    from departures
    left join zones on departures.service_date = zones.service_date
)
select
    operator,
    timed.request_id,
    "window",
    received_at,
    line_code,
    service_date,
    seconds_into(departure_us, day_start_us(service_date, zone)) as service_seconds,
    service_seconds // 3600 as service_hour,
    as_text(s -> 'codice') as service_code,
    as_flag(s -> 'barrato') as is_slash_variant,
    clean_text(as_text(s -> 'targa')) as headsign,
    clean_text(as_text(s -> 'descrizione')) as service_description,
    case when direction_key = 'andata' then 'outbound' else 'inbound' end as direction,
    direction_key,
    clean_text(as_text(description)) as leg_description,
    departure_number,
    departure_text,
    make_timestamp(departure_us) as departure_at,
    extra_text(answer_members || service_members || odd_legs.members || leg_members) as extra
from timed
inner join odd_legs on timed.request_id = odd_legs.request_id
    and timed.service_number = odd_legs.service_number
order by received_at, timed.request_id, timed.service_number, direction_key, departure_number
