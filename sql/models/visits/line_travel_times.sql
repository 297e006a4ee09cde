-- One row per operator, service_date, line, direction and position: the stop, and about how long a bus takes to it from
-- the first stop.
-- Learned from timetable rows of neighbouring stops; where there are none, from ids that are listed at several stops,
-- whatever those ids identify.
-- Those of the whole day: a step is first divided by the factor of its hour.
{%- set way = "operator, service_date, line_code, direction" %}
with steps as (
    select
        steps.*,
        parameters.fewest_agreeing,
        parameters.longest_step_seconds,
        parameters.usual_steps,
        steps.step_seconds / coalesce(steps.travel_factor, 1) as usual_seconds,
        case
            when steps.source = 'live_id' and steps.step_seconds <= 3 * parameters.longest_step_seconds
                then steps.step_seconds
        end as long_seconds
    from {{ built('observed_steps') }} as steps
    cross join {{ ref('inference_parameters') }} as parameters
),

neighbours as (
    -- of neighbouring stops: by timetable rows of one id; by live rows where many buses took longer than steps usually
    -- do, because some stops lie that far apart; by anonymous rows, of which few may all be of one part of the day
    select
        {{ way }},
        position,
        coalesce(
            median(case when source = 'timetable_id' then usual_seconds end),
            case
                when
                    count(long_seconds) >= max(fewest_agreeing)
                    and median(long_seconds) > max(longest_step_seconds)
                    and percentile(long_seconds, 0.75) - percentile(long_seconds, 0.25)
                    <= median(long_seconds) / 2
                    then median(case when long_seconds is not null then usual_seconds end)
            end,
            case
                when count(case when source = 'anonymous' then 1 end) >= max(usual_steps)
                    then median(case when source = 'anonymous' then usual_seconds end)
                when count(case when source = 'anonymous' then 1 end) > 0
                    then median(case when usual_seconds <= longest_step_seconds then usual_seconds end)
            end
        ) as step_seconds
    from steps
    where next_position = position + 1
    group by {{ way }}, position
),

id_medians as (
    -- a pair of stops counts for each step between them; one with too many seconds per step was two trips
    select
        {{ way }},
        stops.position,
        median(steps.usual_seconds) as step_seconds
    from {{ built('line_stops_of_day') }} as stops
    inner join steps using ({{ way }})
    where
        steps.source != 'anonymous'
        and steps.step_seconds <= steps.longest_step_seconds
        and stops.position >= steps.position
        and stops.position < steps.next_position
    group by {{ way }}, stops.position
),

line_means as (
    select
        {{ way }},
        avg(step_seconds) as step_seconds
    from id_medians
    group by {{ way }}
)

select
    stops.* {{ exclude("last_position") }},
    -- rounded, because sums of fractions differ in their last digit from build to build
    {%- set travel_seconds %}
        sum(
            coalesce(
                neighbours.step_seconds, id_medians.step_seconds, line_means.step_seconds,
                parameters.usual_step_seconds
            )
        ) over (
            partition by stops.operator, stops.service_date, stops.line_code, stops.direction
            order by stops.position rows between unbounded preceding and 1 preceding
        )
    {%- endset %}
    coalesce({{ rounded(travel_seconds, 3) }}, 0) as travel_seconds
from {{ built('line_stops_of_day') }} as stops
cross join {{ ref('inference_parameters') }} as parameters
left join neighbours using ({{ way }}, position)
left join id_medians using ({{ way }}, position)
left join line_means using ({{ way }})
