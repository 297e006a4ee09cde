{{ config(schema='core', materialized='table', meta={'reads_all_dates': 'a line may have been listed long ago'}) }}
-- One row per operator and line: its number, termini and name as the lines list gave them last, and what runs on it.
with latest as (
    select
        lines.*,
        {{ plain_label_of('lines.line_number') }} as line_label
    from {{ first_rows(ref('lines'), ['operator', 'line_code'], 'valid_from desc') }} as lines
),

-- a number whose routes are of several types tells nothing
route_types as (
    select
        operator,
        line_label,
        min(route_type) as route_type
    from {{ source('intermediate', 'route_types') }}
    group by operator, line_label
    having count(distinct route_type) = 1
)

select
    latest.operator,
    latest.line_code,
    latest.line_number,
    latest.terminus_outbound,
    latest.terminus_inbound,
    concat_ws(
        ' ', latest.line_number, concat_ws(' - ', latest.terminus_outbound, latest.terminus_inbound)
    ) as line_name,
    coalesce(route_types.route_type, own.route_type, common.route_type) as route_type,
    latest.is_current
from latest
left join route_types using (operator, line_label)
left join {{ ref('line_modes') }} as own
    on latest.operator = own.operator and latest.line_label = own.line_label
left join {{ ref('line_modes') }} as common
    on common.operator = '*' and latest.line_label = common.line_label
