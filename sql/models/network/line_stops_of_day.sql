-- One row per operator, service_date, line, direction and position: the stop list in force at the end of that UTC day.
-- Before the first answer about a line, its first stop list is used.
{%- set whole_way = "stops.operator, days.service_date, stops.line_code, stops.direction" %}
{%- set same_stop = whole_way ~ ", stops.stop_code" %}
with days as (
    select distinct
        operator,
        service_date
    from {{ ref('staging_requests') }}
    where service_date is not null and {{ is_built() }} and {{ is_received_around() }}
),

stops as (
    select
        *,
        min(valid_from) over (partition by operator, line_code) as first_valid_from
    from {{ ref('line_stops') }}
)

select
    stops.operator,
    days.service_date,
    stops.line_code,
    stops.direction,
    stops.position,
    stops.stop_sequence,
    stops.stop_code,
    row_number() over (partition by {{ same_stop }} order by stops.position) as occurrence,
    count(*) over (partition by {{ same_stop }}) as n_occurrences,
    max(stops.position) over (partition by {{ whole_way }}) as last_position,
    first_value(stops.stop_code) over (partition by {{ whole_way }} order by stops.position)
    = first_value(stops.stop_code) over (partition by {{ whole_way }} order by stops.position desc) as is_circular
from days
inner join stops using (operator)
where
    stops.valid_from <= greatest(cast(days.service_date + 1 as timestamp), stops.first_valid_from)
    and coalesce(
        stops.valid_to > greatest(cast(days.service_date + 1 as timestamp), stops.first_valid_from), true
    )
