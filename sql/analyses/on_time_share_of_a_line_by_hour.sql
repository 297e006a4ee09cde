-- What share of a line's passages was on time in the latest month, by hour of the service day?
-- Change the line and the month here; only dates that are over count. First the estimated share of all passages due,
-- with its 95 % interval; then what was seen: the bounds count every indeterminate visit as not on time (low) or on time
-- (high). Where too little is known a share is null, with the reason.
with selected as (
    select
        '018-00' as line_code,
        max(month_starts_date) as from_date,
        max(service_date) as to_date
    from core.closed_dates
)

select
    hours.key.direction,
    hours.key.service_hour,
    hours.n_due,
    round(hours.estimated_on_time_share, 3) as estimated_on_time_share,
    round(hours.estimated_on_time_share_low, 3) as estimated_on_time_share_low,
    round(hours.estimated_on_time_share_high, 3) as estimated_on_time_share_high,
    hours.estimate_null_reason,
    round(hours.on_time_share_low, 3) as on_time_share_low,
    round(hours.on_time_share, 3) as on_time_share,
    round(hours.on_time_share_high, 3) as on_time_share_high,
    hours.null_reason,
    round(hours.coverage, 3) as coverage
from punctuality_between(
    {'line_code': line_code, 'direction': direction, 'service_hour': service_hour},
    (select from_date from selected),
    (select to_date from selected)
) as hours
inner join selected on hours.key.line_code = selected.line_code
order by hours.key.direction, hours.key.service_hour
