{{ config(schema='core') }}
-- One row per operator and service_date with requests: the instant its seconds and hours count from.
select
    operator,
    service_date,
    -- rounded: noon minus twelve hours is a whole minute, but planned_at is not a whole second
    date_trunc('minute', add_seconds(min(add_seconds(planned_at, -service_seconds)), 30)) as zero_at,
    max(planned_at) as last_planned_at,
    count(*) as n_requests
from {{ built('requests') }}
where service_date is not null
group by operator, service_date
