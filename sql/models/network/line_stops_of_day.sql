-- One row per operator, service_date, line, direction and position: the stop list in force at the end of that UTC day.
-- Before the first answer about a line, its first stop list is used.
with days as (
    select distinct
        operator,
        service_date
    from {{ ref('staging_requests') }}
    where service_date is not null and {{ is_built() }} and {{ is_received_around() }}
),

first_answers as (
    select
        operator,
        line_code,
        min(valid_from) as first_valid_from
    from {{ ref('line_stops') }}
    group by operator, line_code
)

select
    stops.operator,
    days.service_date,
    stops.line_code,
    stops.direction,
    stops.position,
    stops.stop_sequence,
    stops.stop_code,
    row_number() over (
        partition by stops.operator, days.service_date, stops.line_code, stops.direction, stops.stop_code
        order by stops.position
    ) as occurrence,
    count(*) over (
        partition by stops.operator, days.service_date, stops.line_code, stops.direction, stops.stop_code
    ) as n_occurrences,
    max(stops.position) over (
        partition by stops.operator, days.service_date, stops.line_code, stops.direction
    ) as last_position,
    first_value(stops.stop_code) over whole_way = last_value(stops.stop_code) over whole_way as is_circular
from days
inner join {{ ref('line_stops') }} as stops using (operator)
inner join first_answers using (operator, line_code)
where
    stops.valid_from <= greatest(cast(days.service_date + 1 as timestamp), first_answers.first_valid_from)
    and coalesce(
        stops.valid_to > greatest(cast(days.service_date + 1 as timestamp), first_answers.first_valid_from), true
    )
window whole_way as (
    partition by stops.operator, days.service_date, stops.line_code, stops.direction order by stops.position
    rows between unbounded preceding and unbounded following
)
