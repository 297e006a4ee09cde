{{ config(materialized='ephemeral') }}
-- One row per due call, and per hidden passage: the delay to expect by what is known of its trip, line and hour, and
-- how uncertain it is by the errors of hidden passages.
select
    guesses.departure_key,
    guesses.operator,
    guesses.service_date,
    guesses.line_code,
    guesses.direction,
    guesses.position,
    guesses.holdout,
    guesses.weight,
    guesses.side,
    guesses.gap_class,
    guesses.delay_seconds,
    guesses.told_schedule_error_seconds,
    {{ expected_delay('guesses', 'errors') }} as expected_seconds,
    errors.error_seconds * coalesce(lines.factor, 1) as error_seconds
from {{ ref('delay_guesses') }} as guesses
inner join {{ built('delay_errors') }} as errors using (operator, service_date, side, gap_class, delay_class)
left join {{ built('line_errors') }} as lines using (operator, service_date, line_code, direction)
