-- What share of a line's passages was on time last month, hour by hour?
-- Change the line and the month here. Between low and high lies what nobody could decide; where too little was
-- watched the shares are null, and null_reason says so.
with asked as (
    select
        '018-00' as line_code,
        date_trunc('month', max(service_date)) as from_date,
        max(service_date) as to_date
    from marts.punctuality
),

hours as (
    select
        counts.direction,
        counts.service_hour,
        sum(counts.n_scheduled) as n_scheduled,
        sum(counts.n_points) as n_points,
        sum(counts.n_on_time_points) as n_on_time_points,
        sum(counts.n_on_time) as n_on_time,
        sum(counts.n_indeterminate) as n_indeterminate,
        sum(watched.covered_seconds) / nullif(sum(watched.asked_seconds), 0) as coverage,
        max(rules.coverage_threshold) as coverage_threshold
    from marts.punctuality as counts
    inner join asked
        on counts.line_code = asked.line_code and counts.service_date between asked.from_date and asked.to_date
    inner join core.rulesets as rules on counts.ruleset_version = rules.ruleset_version
    left join marts.line_coverage as watched
        on
            counts.operator = watched.operator
            and counts.service_date = watched.service_date
            and counts.line_code = watched.line_code
            and counts.direction = watched.direction
            and counts.service_hour = watched.service_hour
    group by counts.direction, counts.service_hour
),

judged as (
    select
        *,
        case
            when n_scheduled = 0 then 'nothing scheduled'
            when coalesce(coverage, 0) < coverage_threshold then 'coverage under threshold'
        end as null_reason
    from hours
)

select
    direction,
    service_hour,
    n_scheduled,
    case when null_reason is null then round(n_on_time / n_scheduled, 3) end as on_time_share_low,
    case when null_reason is null then round(n_on_time_points / nullif(n_points, 0), 3) end as on_time_share,
    case when null_reason is null then round((n_on_time + n_indeterminate) / n_scheduled, 3) end as on_time_share_high,
    round(coverage, 3) as coverage,
    null_reason
from judged
order by direction, service_hour
