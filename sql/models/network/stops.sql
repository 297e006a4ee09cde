{{ config(schema='core', materialized='view') }}
-- One row per operator and stop that any line ever served: its name and place, where the reference file of stops gives
-- them (setting TRANSIT_STOPS_FILE). The interface gives neither.
select
    served.operator,
    served.stop_code,
    names.stop_name,
    names.latitude,
    names.longitude,
    served.is_current
from (
    select
        operator,
        stop_code,
        max(case when is_current then 1 else 0 end) = 1 as is_current
    from {{ ref('line_stops') }}
    group by operator, stop_code
) as served
left join {{ source('intermediate', 'stop_names') }} as names using (operator, stop_code)
