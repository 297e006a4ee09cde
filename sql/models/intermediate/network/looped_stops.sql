-- One row per operator, service_date, stop and number of a line that comes by twice or comes round in a loop: how far
-- apart two predictions are that speak of two visits.
-- They need not lie far apart there; and a bus late by more than half the way round is the one that comes by again.
select
    stops.operator,
    stops.service_date,
    stops.stop_code,
    replace({{ normal_label('lines.line_number') }}, '/', '') as plain_number,
    min(
        case
            when stops.n_occurrences > 1 then rules.upward_jump_seconds
            else greatest(
                rules.upward_jump_seconds,
                least(rules.live_gap_seconds, stops.last_position * rules.step_usual_seconds / 2)
            )
        end
    ) as gap_seconds,
    min(
        case
            when stops.previous_position is not null
                then greatest(
                    rules.live_gap_seconds,
                    (stops.position - stops.previous_position) * rules.step_usual_seconds / 2
                )
        end
    ) as half_round_seconds,
    max(rules.ruleset_version) as ruleset_version
from (
    select
        *,
        lag(position) over (
            partition by operator, service_date, line_code, direction, stop_code order by position
        ) as previous_position
    from {{ ref('line_stops_of_day') }}
    where {{ is_built() }}
) as stops
{{ join_rules('stops.service_date') }}
inner join {{ ref('lines') }} as lines
    on stops.operator = lines.operator and stops.line_code = lines.line_code
where stops.n_occurrences > 1 or stops.is_circular
group by
    stops.operator, stops.service_date, stops.stop_code,
    replace({{ normal_label('lines.line_number') }}, '/', '')
