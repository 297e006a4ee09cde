-- One row per planned request. n_rows counts the rows that its answer listed, quarantined ones included.
select
    raw.operator,
    raw.request_id,
    raw."window",
    raw.endpoint,
    raw."key",
    raw.api_version,
    raw.planned_at,
    raw.sent_at,
    raw.received_at,
    raw.outcome,
    raw.outcome = 'ok' as is_good,
    raw.http_status,
    raw.elapsed_ms,
    raw.attempts,
    raw.error,
    raw.purpose,
    raw.draws,
    answers.n_rows,
    raw.n_bytes as body_bytes,
    service_date_at(epoch_us(raw.dated_at), window_zone()) as service_date,
    seconds_into(
        epoch_us(raw.dated_at),
        day_start_us(service_date_at(epoch_us(raw.dated_at), window_zone()), window_zone())
    ) as service_seconds,
    service_seconds // 3600 as service_hour
from raw
left join answers on raw.request_id = answers.request_id
order by raw.planned_at, raw.request_id
