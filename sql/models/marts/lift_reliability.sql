{{ config(materialized='view') }}
-- One row per operator and lift: availability, mean time between failures (MTBF) and mean time to repair (MTTR) over
-- all dates that are over. An open outage is censored: its time is time out of use, and it is no repair. MTBF is null
-- without a failure, MTTR without a repair.
select
    operator,
    lift,
    count(*) as n_dates,
    cast(sum(total_seconds) as bigint) as total_seconds,
    cast(sum(out_low_seconds) as bigint) as out_low_seconds,
    cast(sum(out_high_seconds) as bigint) as out_high_seconds,
    cast(sum(n_failures) as bigint) as n_failures,
    cast(sum(n_repairs) as bigint) as n_repairs,
    max(case when is_open then 1 else 0 end) = 1 as is_open,
    1 - cast(sum(out_high_seconds) as double) / sum(total_seconds) as availability_low,
    1 - cast(sum(out_low_seconds) as double) / sum(total_seconds) as availability_high,
    cast(sum(total_seconds) - sum(out_high_seconds) as double) / nullif(sum(n_failures), 0) as mtbf_low_seconds,
    cast(sum(total_seconds) - sum(out_low_seconds) as double) / nullif(sum(n_failures), 0) as mtbf_high_seconds,
    cast(sum(out_low_seconds) as double) / nullif(sum(n_repairs), 0) as mttr_low_seconds,
    cast(sum(out_high_seconds) as double) / nullif(sum(n_repairs), 0) as mttr_high_seconds
from {{ ref('lift_availability') }}
inner join {{ ref('closed_dates') }} using (operator, service_date)
where null_reason is null
group by operator, lift
