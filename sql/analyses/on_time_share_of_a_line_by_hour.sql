-- What share of a line's passages was on time in the latest month, by hour of the service day?
-- Change the line and the month here; only dates that are over count. First the estimated share of all passages due,
-- with its 95 % interval; then what was seen: the bounds count every indeterminate visit as not on time (low) or on
-- time (high). Where too little is known a share is null, with the reason.
with selected as (
    select
        '018-00' as line_code,
        max(month_starts_date) as from_date,
        max(service_date) as to_date
    from core.closed_dates
),

hours as (
    select
        struct_extract(key, 'line_code') as line_code,
        struct_extract(key, 'direction') as direction,
        struct_extract(key, 'service_hour') as service_hour,
        * exclude (key)
    from
        punctuality_between(
            { 'line_code': line_code, 'direction': direction, 'service_hour': service_hour },
            (select from_date from selected),
            (select to_date from selected)
        )
)

select
    direction,
    service_hour,
    n_due,
    round(estimated_on_time_share, 3) as estimated_on_time_share,
    round(estimated_on_time_share_low, 3) as estimated_on_time_share_low,
    round(estimated_on_time_share_high, 3) as estimated_on_time_share_high,
    estimate_null_reason,
    round(on_time_share_low, 3) as on_time_share_low,
    round(on_time_share, 3) as on_time_share,
    round(on_time_share_high, 3) as on_time_share_high,
    null_reason,
    round(coverage, 3) as coverage
from hours
where line_code = (select line_code from selected)
order by direction, service_hour
