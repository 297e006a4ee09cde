-- Where and when are buses full? Share of the visits listed live that were flagged as full, with lower and upper
-- bounds: flagged in all of their live listings, or in any. Only dates that are over count. Of each operator the twenty
-- fullest.
with shares as (
    select
        operator,
        line_code,
        direction,
        stop_code,
        service_hour,
        sum(n_visits) as n_visits,
        round(sum(n_surely_full) / sum(n_visits), 3) as full_share_low,
        round(sum(n_full) / sum(n_visits), 3) as full_share,
        round(sum(n_possibly_full) / sum(n_visits), 3) as full_share_high
    from marts.crowding
    inner join core.closed_dates using (operator, service_date)
    where
        line_code is not null
        and coalesce(service_date >= getvariable('from_date'), true)
        and coalesce(service_date <= getvariable('to_date'), true)
        and (getvariable('lines') is null or list_contains(getvariable('lines'), line_code))
    group by operator, line_code, direction, stop_code, service_hour
    having sum(n_visits) >= 3
)

select *
from shares
qualify
    row_number() over (
        partition by operator order by full_share desc, n_visits desc, line_code, direction, stop_code, service_hour
    ) <= 20
order by operator, full_share desc, n_visits desc, line_code, direction, stop_code, service_hour
