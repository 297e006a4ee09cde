{{ config(materialized='ephemeral') }}
-- One row per trip with a position: the stop at which it is first listed, and whether it was observed to start there.
-- It was, if the stop before was polled shortly before and did not list the trip although its list had room. For a trip
-- that was under way when collecting began there is no such poll.
with starts as (
    select *
    from (
        select
            trip_key,
            operator,
            service_date,
            line_code,
            direction,
            position,
            theoretical_at,
            replaced_at,
            is_anonymous,
            replace(line_label, '/', '') as plain_label,
            coalesce(is_slash_variant, false) as is_slash_listed,
            coalesce(destination, '') as destination,
            coalesce(theoretical_at, last_predicted_at) as expected_at,
            least(theoretical_at, last_predicted_at) as earliest_at,
            row_number() over (
                partition by trip_key, line_code, direction
                order by position, coalesce(theoretical_at, last_predicted_at)
            ) as nth
        from {{ built('passing_times') }}
        where position is not null
    ) as visits
    where nth = 1
),

stops as (
    select
        operator,
        service_date,
        line_code,
        direction,
        position,
        stop_code,
        lead(travel_seconds) over (
            partition by operator, service_date, line_code, direction order by position
        ) - travel_seconds as step_seconds
    from {{ built('line_travel_times') }}
),

observed as (
    select distinct trip_key
    from (
        select
            starts.trip_key,
            polls.request_id
        from starts
        cross join {{ ref('inference_parameters') }} as parameters
        inner join stops
            on
                starts.operator = stops.operator
                and starts.service_date = stops.service_date
                and starts.line_code = stops.line_code
                and starts.direction = stops.direction
                and starts.position = stops.position + 1
        inner join {{ ref('stop_polls') }} as polls
            on
                stops.operator = polls.operator
                and stops.stop_code = polls.stop_code
                and {{ is_received_around('polls.received_date') }}
                and polls.received_at
                between {{ add_seconds('starts.earliest_at', '-parameters.not_run_gap_seconds') }}
                and {{ add_seconds(
                    'starts.earliest_at', '-(stops.step_seconds + parameters.past_tolerance_seconds)'
                ) }}
        left join {{ ref('staging_passages') }} as passages
            on
                polls.operator = passages.operator
                and polls.request_id = passages.request_id
                and starts.plain_label = replace(passages.line_label, '/', '')
                and starts.expected_at > passages.predicted_at
                and {{ is_received_around('passages.received_date') }}
        group by starts.trip_key, polls.request_id
        having
            count(passages.request_id) < max(parameters.listed_per_line)
            -- an anonymous row may be about any trip
            and count(case when passages.trip_id is null then passages.request_id end) = 0
    ) as answers
)

select
    starts.*,
    observed.trip_key is not null as is_start_observed
from starts
left join observed using (trip_key)
