-- One row per line of the raw file. `is_read` marks answers that may hold rows. `dated_at` is the instant whose
-- service date a request has: when it was planned, or when it was answered if the clock was set by days between them.
create or replace temp table raw as
select
    * exclude (body_base64),
    outcome = 'ok' and api_version = 1 and body is not null as is_read,
    case when abs(epoch_us(received_at) - epoch_us(planned_at)) > 86400000000 then received_at
        else planned_at end as dated_at
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
