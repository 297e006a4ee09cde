-- One row per stop listed under a direction: any key of the answer that holds an array of stops.
create or replace temp table directions as
with read as (
    select
        operator, request_id, "window", received_at, "key" as line_code, try(body::json) as b
    from raw
    where is_read
),
keyed as (
    select *, unnest(list_distinct(json_keys(b))) as direction_key
    from read
),
shaped as (
    select
        *,
        json_extract(b, json_pointer(direction_key)) as stops,
        direction_key <> 'codice_linea' and json_type(stops) = 'ARRAY'
            and (json_array_length(stops) = 0 or json_type(stops -> 0) = 'OBJECT') as is_direction
    from keyed
)
select
    * exclude (b),
    case
        when is_direction then []
        when direction_key = 'codice_linea'
            then odd_member(as_text(stops) is distinct from line_code, 'answer.codice_linea', stops)
        else odd_member(true, 'answer.' || direction_key, stops)
    end as members
from shaped;

create or replace temp table answers as
with listed as (
    select request_id, sum(case when is_direction then json_array_length(stops) else 0 end)::bigint as n_rows
    from directions
    group by request_id
)
select raw.request_id, case when json_type(try(raw.body::json)) = 'OBJECT' then coalesce(n_rows, 0) end as n_rows
from raw
left join listed on raw.request_id = listed.request_id
where raw.is_read;

with answer_members as (
    select request_id, flatten(list(members order by direction_key)) as members
    from directions
    group by request_id
),
stops as (
    select
        * exclude (members, stops),
        unnest(range(1, json_array_length(stops)::bigint + 1)) as row_number,
        unnest(as_list(stops)) as s
    from directions
    where is_direction
),
read as (
    select *, as_whole(s -> 'ordine') as stop_sequence
    from stops
)
select
    read.operator,
    read.request_id,
    read."window",
    read.received_at,
    read.line_code,
    case when read.direction_key = 'andata' then 'outbound' else 'inbound' end as direction,
    read.direction_key,
    as_text(s -> 'direzione') as direction_indicator,
    row_number() over (
        partition by read.request_id, read.direction_key order by stop_sequence nulls last, read.row_number
    ) as position,
    read.stop_sequence,
    nullif(trim(as_text(s -> 'codice_fermata')), '') as stop_code,
    extra_text(answer_members.members || odd_member(
        as_text(s -> 'codice_linea') <> read.line_code, 'codice_linea', s -> 'codice_linea'
    ) || left_over(s, map {
        'codice_linea': 'text', 'direzione': 'text', 'codice_fermata': 'text', 'ordine': 'whole'
    }, '')) as extra
from read
inner join answer_members on read.request_id = answer_members.request_id
order by read.received_at, read.request_id, read.direction_key, position
