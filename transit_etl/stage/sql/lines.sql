-- One row per line listed.
create or replace temp table answers as
select operator, request_id, "window", received_at, as_list(try(body::json)) as rows, len(rows) as n_rows
from raw
where is_read;

with listed as (
    select * exclude (rows, n_rows), unnest(range(1, n_rows + 1)) as row_number, unnest(rows) as r
    from answers
)
select
    operator,
    request_id,
    "window",
    received_at,
    row_number,
    nullif(trim(as_text(r -> 'codice')), '') as line_code,
    nullif(trim(as_text(r -> 'numero')), '') as line_number,
    clean_text(as_text(r -> 'capolinea_andata')) as terminus_outbound,
    clean_text(as_text(r -> 'capolinea_ritorno')) as terminus_inbound,
    as_flag(r -> 'attiva') as is_active,
    as_text(r -> 'note') as note,
    extra_text(left_over(r, map {
        'codice': 'text', 'numero': 'text', 'capolinea_andata': 'text', 'capolinea_ritorno': 'text',
        'attiva': 'flag', 'note': 'text'
    }, '')) as extra
from listed
order by received_at, request_id, row_number
