-- What share of a line's passages was on time in the latest month, by hour of the service day?
-- Only dates that are over count. First the estimated share of all passages due, with its 95 % interval; then what was
-- seen: the bounds count every indeterminate visit as not on time (low) or on time (high). Where too little is known a
-- share is null, with the reason.
with selected as (
    select
        operator,
        coalesce(getvariable('from_date'), max(month_starts_date)) as from_date,
        least(getvariable('to_date'), max(service_date)) as to_date
    from core.closed_dates
    group by operator
),

hours as (
    select
        struct_extract(shares.key, 'line_code') as line_code,
        struct_extract(shares.key, 'direction') as direction,
        struct_extract(shares.key, 'service_hour') as service_hour,
        shares.* exclude (key)
    from selected
    inner join
        lateral punctuality_between(
            { 'line_code': line_code, 'direction': direction, 'service_hour': service_hour },
            selected.from_date,
            selected.to_date
        ) as shares
        on selected.operator = shares.operator
)

select
    operator,
    line_code,
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
where line_code is not null and (getvariable('lines') is null or list_contains(getvariable('lines'), line_code))
order by operator, line_code, direction, service_hour
