-- One row per operator, service_date, line, direction and service_hour: how much longer than over the whole day a bus
-- takes then, as a factor.
-- Timetables follow the traffic, so that live steps tell it as well. With few steps of the line in the hour it is
-- nearer to the factor of all lines.
with steps as (
    select
        steps.operator,
        steps.service_date,
        steps.line_code,
        steps.direction,
        steps.service_hour,
        steps.step_seconds / median(steps.step_seconds) over (
            partition by steps.operator, steps.service_date, steps.line_code, steps.direction, steps.position
        ) as factor
    from {{ built('observed_steps') }} as steps
    cross join {{ ref('inference_parameters') }} as parameters
    where
        steps.next_position = steps.position + 1
        and steps.step_seconds between 1 and parameters.longest_step_seconds
),

hours as (
    select
        operator,
        service_date,
        service_hour,
        median(factor) as factor
    from steps
    group by operator, service_date, service_hour
)

select
    steps.operator,
    steps.service_date,
    steps.line_code,
    steps.direction,
    steps.service_hour,
    round(
        (count(*) * median(steps.factor) + max(parameters.usual_steps) * max(hours.factor))
        / (count(*) + max(parameters.usual_steps)),
        3
    ) as travel_factor
from steps
cross join {{ ref('inference_parameters') }} as parameters
inner join hours using (operator, service_date, service_hour)
group by steps.operator, steps.service_date, steps.line_code, steps.direction, steps.service_hour
