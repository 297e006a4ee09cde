{{ config(schema='core', materialized='view') }}
-- One row per operator, service_date and service_hour that is over: from when to when it lasted. A service day lasts to
-- the beginning of the next one: 25 hours where clocks are set back.
with days as (
    select
        days.operator,
        days.service_date,
        days.zero_at,
        add_seconds(days.zero_at, operators.service_day_starts_seconds) as from_at,
        case
            when lead(days.service_date) over one_operator = days.service_date + 1
                then add_seconds(lead(days.zero_at) over one_operator, operators.service_day_starts_seconds)
            else add_seconds(days.zero_at, operators.service_day_starts_seconds + 86400)
        end as to_at,
        case when days.service_date <= operators.closed_date then timestamp '9999-12-31' else days.last_planned_at end
            as over_at
    from {{ ref('service_days') }} as days
    inner join {{ source('quality', 'operators') }} as operators on days.operator = operators.operator
    window one_operator as (partition by days.operator order by days.service_date)
),

hours as (
    select
        days.operator,
        days.service_date,
        numbers.number - 1 as service_hour,
        days.over_at,
        greatest(days.from_at, add_seconds(days.zero_at, 3600 * (numbers.number - 1))) as from_at,
        least(days.to_at, add_seconds(days.zero_at, 3600 * numbers.number)) as to_at
    from days
    cross join {{ numbers(50) }} as numbers
)

select
    operator,
    service_date,
    service_hour,
    from_at,
    to_at
from hours
where from_at < to_at and to_at <= over_at
