-- One row per line of a part of a raw file, which `lines` holds.
create or replace temp table raw as
select
    *,
    may_hold_rows(outcome, api_version, body) as is_read,
    has_plain_shape(endpoint, body) as has_shape,
    date_from(planned_at, received_at) as dated_at
from lines
