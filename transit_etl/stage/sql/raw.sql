-- One row per line of the raw file.
create or replace temp table raw as
select
    * exclude (body_base64),
    may_hold_rows(outcome, api_version, body) as is_read,
    has_plain_shape(endpoint, body) as has_shape,
    date_from(planned_at, received_at) as dated_at
from read_json(
    raw_path(),
    format = 'newline_delimited',
    compression = 'zstd',
    maximum_object_size = largest_line(),
    columns = {
        request_id: 'VARCHAR', "window": 'VARCHAR', operator: 'VARCHAR', endpoint: 'VARCHAR', "key": 'VARCHAR',
        api_version: 'BIGINT', planned_at: 'TIMESTAMP', sent_at: 'TIMESTAMP', received_at: 'TIMESTAMP',
        outcome: 'VARCHAR', http_status: 'BIGINT', elapsed_ms: 'DOUBLE', attempts: 'BIGINT', error: 'VARCHAR',
        purpose: 'VARCHAR', draws: 'VARCHAR', n_bytes: 'BIGINT', body: 'VARCHAR', body_base64: 'VARCHAR'
    }
);
