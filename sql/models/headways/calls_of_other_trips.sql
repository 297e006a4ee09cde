{{ config(materialized=inlined()) }}
-- One row per due call of a departure without a trip, at about which a trip without a departure was observed passing:
-- it may be its bus.
select distinct
    calls.departure_key,
    calls.position
from {{ built('trip_trajectories') }} as calls
cross join {{ ref('inference_parameters') }} as parameters
inner join {{ ref('unmatched_passages') }} as visits
    on
        calls.operator = visits.operator
        and calls.service_date = visits.service_date
        and calls.line_code = visits.line_code
        and calls.direction = visits.direction
        and calls.stop_code = visits.stop_code
        and visits.passed_at
        between add_seconds(calls.scheduled_at, -parameters.not_run_before_seconds)
        and add_seconds(calls.scheduled_at, parameters.not_run_after_seconds)
where calls.trip_key is null
