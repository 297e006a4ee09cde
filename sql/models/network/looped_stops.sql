-- One row per operator, service_date, stop and line number, where a line of that number serves the stop twice or is
-- circular: how far apart two predictions of one trip are that are about two visits.
-- Two visits may lie close together there, and a bus late by more than half the loop is the one that comes again.
{%- set plain_number = "replace(" ~ normal_label("lines.line_number") ~ ", '/', '')" %}
select
    stops.operator,
    stops.service_date,
    stops.stop_code,
    {{ plain_number }} as plain_number,
    min(
        case
            when stops.n_occurrences > 1 then parameters.upward_jump_seconds
            else greatest(
                parameters.upward_jump_seconds,
                least(parameters.live_gap_seconds, stops.last_position * parameters.usual_step_seconds / 2)
            )
        end
    ) as gap_seconds,
    min(
        case
            when stops.previous_position is not null
                then greatest(
                    parameters.live_gap_seconds,
                    (stops.position - stops.previous_position) * parameters.usual_step_seconds / 2
                )
        end
    ) as half_loop_seconds
from (
    select
        *,
        lag(position) over (
            partition by operator, service_date, line_code, direction, stop_code order by position
        ) as previous_position
    from {{ built('line_stops_of_day') }}
) as stops
cross join {{ ref('inference_parameters') }} as parameters
inner join {{ ref('lines') }} as lines using (operator, line_code)
where (stops.n_occurrences > 1 or stops.is_circular) and {{ plain_number }} is not null
group by stops.operator, stops.service_date, stops.stop_code, {{ plain_number }}
