{{ config(schema='core', materialized='view') }}
-- One row per operator and service_date with requests that was over when the file was published: the dates that count
-- in headlines and recipes.
with dates as (
    select
        days.operator,
        days.service_date,
        cast(date_trunc('month', days.service_date) as date) as month_starts_date
    from {{ ref('service_days') }} as days
    inner join {{ source('quality', 'operators') }} as operators
        on days.operator = operators.operator and days.service_date <= operators.closed_date
),

months as (
    select
        *,
        min(service_date) over (partition by operator, month_starts_date) as first_date,
        max(service_date) over (partition by operator, month_starts_date) as last_date
    from dates
)

select
    operator,
    service_date,
    month_starts_date,
    case
        when first_date = month_starts_date and cast(date_trunc('month', last_date + 1) as date) > month_starts_date
            then substr(cast(month_starts_date as string), 1, 7)
        when first_date = last_date then cast(first_date as string)
        else cast(first_date as string) || '/' || cast(last_date as string)
    end as month_period
from months
