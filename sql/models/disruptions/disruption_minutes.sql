{{ config(materialized='view') }}
-- One row per operator, service_date, service_hour that is over, and line known then: how long the line was disrupted,
-- with or without an episode. Overlapping episodes count once. `low_seconds` is certain; `high_seconds` also has the
-- time between two answers in which an episode began or ended, and the time in which nobody looked.
with lines as (
    select distinct
        lines.operator,
        lines.line_code,
        days.service_date
    from {{ ref('lines') }} as lines
    inner join {{ service_date_spans() }} as days
        on
            lines.operator = days.operator
            and lines.valid_from < days.to_at
            and coalesce(lines.valid_to > days.from_at, true)
),

unwatched as (
    select
        hours.operator,
        hours.service_date,
        hours.service_hour,
        {{ exact_sum("seconds_between(greatest(hours.from_at, gaps.from_at), least(hours.to_at, gaps.to_at))") }}
            as unwatched_seconds
    from {{ ref('service_hours') }} as hours
    inner join {{ ref('status_unwatched') }} as gaps
        on
            hours.operator = gaps.operator
            and hours.from_at < gaps.to_at
            and hours.to_at > gaps.from_at
    where gaps.category_asked = ''
    group by hours.operator, hours.service_date, hours.service_hour
),

sums as (
    select
        operator,
        service_date,
        service_hour,
        line_code,
        sum(n_episodes) as n_parts,
        {{ exact_sum('low_seconds') }} as low_seconds,
        {{ exact_sum('high_seconds') }} as high_seconds
    from {{ ref('disruption_minutes_by_part') }}
    where line_code is not null
    group by operator, service_date, service_hour, line_code
)

select
    hours.operator,
    hours.service_date,
    hours.service_hour,
    lines.line_code,
    cast(round(seconds_between(hours.from_at, hours.to_at)) as bigint) as hour_seconds,
    cast(round(
        seconds_between(hours.from_at, hours.to_at) - coalesce(unwatched.unwatched_seconds, 0)
    ) as bigint) as watched_seconds,
    coalesce(sums.n_parts, 0) > 0 as has_episode,
    cast(floor(coalesce(sums.low_seconds, 0)) as bigint) as low_seconds,
    cast(ceil(coalesce(sums.high_seconds, 0)) as bigint) as high_seconds
from {{ ref('service_hours') }} as hours
inner join lines using (operator, service_date)
left join unwatched using (operator, service_date, service_hour)
left join sums using (operator, service_date, service_hour, line_code)
