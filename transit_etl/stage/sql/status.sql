-- One row per entry of the service status. An answer without the list `stato` says nothing: its n_rows is null.
create or replace temp table answers as
with read as (
    select
        operator, request_id, "window", received_at, nullif("key", '') as category_asked, try(body::json) as b
    from raw
    where is_read
)
select
    * exclude (b),
    left_over(b, map {'stato': 'list'}, 'answer.') as members,
    as_list(b -> 'stato') as entries,
    case when json_type(b -> 'stato') = 'ARRAY' then len(entries) end as n_rows
from read;

with listed as (
    select * exclude (entries, n_rows), unnest(range(1, n_rows + 1)) as row_number, unnest(entries) as e
    from answers
),
written as (
    select
        *,
        e -> 'linee' as linee,
        as_text(e -> 'data') as started_text,
        try_strptime(trim(started_text), ['%d/%m/%Y %H:%M', '%d/%m/%Y %H:%M:%S']) as written_at,
        case when year(written_at) between 2000 and 2099 then epoch_us(written_at) end as written_us
    from listed
),
early as (
    select written.*, offsets.offset_us as early
    from written asof left join offsets on written.written_us - 172800000000 >= offsets.valid_from_us
),
zoned as (
    select early.*, {early: early.early, late: offsets.offset_us, changed: offsets.valid_from_us} as zone
    from early asof left join offsets on early.written_us + 172800000000 >= offsets.valid_from_us
)
select
    operator,
    request_id,
    "window",
    received_at,
    category_asked,
    row_number,
    nullif(trim(as_text(e -> 'evento')), '') as event,
    nullif(trim(as_text(e -> 'categoria')), '') as category,
    case
        when json_type(linee) = 'ARRAY'
            then list_filter(list_transform(as_list(linee), lambda l: trim(as_text(l))), lambda l: l is not null)
        when as_text(linee) is not null then [trim(as_text(linee))]
    end as lines,
    case
        when json_type(linee) = 'ARRAY' then 'array'
        when as_text(linee) is not null then 'text'
        else 'absent'
    end as lines_kind,
    as_text(e -> 'causa') as cause,
    as_text(e -> 'messaggio') as message,
    make_timestamp(local_us(written_us, epoch_us(received_at), zone)) as started_at,
    started_text,
    service_date_at(epoch_us(received_at), window_zone()) as service_date,
    seconds_into(
        epoch_us(received_at),
        day_start_us(service_date_at(epoch_us(received_at), window_zone()), window_zone())
    ) as service_seconds,
    service_seconds // 3600 as service_hour,
    extra_text(
        members
        || odd_member(
            json_type(linee) = 'OBJECT'
            or list_contains(list_transform(as_list(linee), lambda l: as_text(l) is null), true),
            'linee', linee
        )
        || left_over(e, map {
            'evento': 'text', 'categoria': 'text', 'linee': 'any', 'causa': 'text', 'messaggio': 'text',
            'data': 'text'
        }, '')
    ) as extra
from zoned
order by received_at, request_id, row_number
