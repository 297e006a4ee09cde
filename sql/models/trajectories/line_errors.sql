-- One row per operator, service_date, line and direction: how much larger or smaller than usual the errors of its
-- hidden passages were, as a factor.
with hidden as (
    select
        guesses.*,
        -- squared errors in thousandths, as whole numbers, so that their sum does not depend on the order
        cast(round(1000 * least(
            power((guesses.delay_seconds - {{ expected_delay('guesses', 'errors') }}) / errors.error_seconds, 2), 9
        )) as bigint) as square,
        parameters.line_passages
    from {{ ref('delay_guesses') }} as guesses
    inner join {{ built('delay_errors') }} as errors
        using (operator, service_date, side, gap_class, delay_class)
    cross join {{ ref('inference_parameters') }} as parameters
    where guesses.holdout > 0
)

select
    operator,
    service_date,
    line_code,
    direction,
    count(*) as n_hidden,
    sqrt((sum(square) / 1000.0 + max(line_passages)) / (count(*) + max(line_passages))) as factor
from hidden
group by operator, service_date, line_code, direction
