-- One row per due call, and per hidden passage: the delay to expect by what is known of its trip, line and hour, and
-- how uncertain it is by the errors of hidden passages: those of its class, times how much larger or smaller than usual
-- those of its line were.
with guesses as (
    select
        guesses.*,
        {{ expected_delay('guesses', 'errors') }} as expected_seconds,
        errors.error_seconds as class_error_seconds
    from {{ built('delay_guesses') }} as guesses
    inner join {{ built('delay_errors') }} as errors using (operator, service_date, side, gap_class, delay_class)
),

lines as (
    -- squared errors in thousandths, as whole numbers, so that their sum does not depend on the order; on average 1
    select
        guesses.operator,
        guesses.service_date,
        guesses.line_code,
        guesses.direction,
        count(*) as n_hidden,
        sum(cast(round(1000 * least(
            power((guesses.delay_seconds - guesses.expected_seconds) / guesses.class_error_seconds, 2), 9
        )) as bigint)) as square_sum
    from guesses
    where guesses.holdout > 0
    group by guesses.operator, guesses.service_date, guesses.line_code, guesses.direction
),

compared as (
    select
        *,
        sum(square_sum) over days / cast(sum(n_hidden) over days as double) as mean_square
    from lines
    window days as (partition by operator, service_date)
)

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
    {{ shape_class('guesses.side', 'guesses.gap_class', 'guesses.delay_class') }} as shape_class,
    guesses.delay_seconds,
    guesses.told_schedule_error_seconds,
    guesses.expected_seconds,
    guesses.class_error_seconds * sqrt(
        {{ leaning_mean(
            "(lines.square_sum / lines.mean_square)", "lines.n_hidden", "1", "parameters.line_passages"
        ) }}
    ) as error_seconds
from guesses
cross join {{ ref('inference_parameters') }} as parameters
left join compared as lines using (operator, service_date, line_code, direction)
