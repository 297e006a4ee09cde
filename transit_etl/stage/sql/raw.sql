-- One row per line of the raw file. `is_read` marks answers that may hold rows.
create or replace temp table raw as
select
    * exclude (body_base64),
    outcome = 'ok' and api_version = 1 and body is not null as is_read
from read_json(
    raw_path(),
    format = 'newline_delimited',
    compression = 'zstd',
    maximum_object_size = largest_line(),
    columns = {
        request_id: 'VARCHAR', "window": 'VARCHAR', operator: 'VARCHAR', endpoint: 'VARCHAR', "key": 'VARCHAR',
        api_version: 'BIGINT', planned_at: 'TIMESTAMP', sent_at: 'TIMESTAMP', received_at: 'TIMESTAMP',
        outcome: 'VARCHAR', http_status: 'BIGINT', elapsed_ms: 'DOUBLE', attempts: 'BIGINT', error: 'VARCHAR',
        n_bytes: 'BIGINT', body: 'VARCHAR', body_base64: 'VARCHAR'
    }
);
