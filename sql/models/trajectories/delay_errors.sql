-- One row per operator, service_date, side, class of gap and class of delay: how far the delays of hidden passages were
-- from what the nearest passages told, each with its weight. Classes with few passages lean on wider ones.
with hidden as (
    select
        guesses.*,
        guesses.delay_seconds - guesses.usual_delay_seconds as above_seconds,
        guesses.told_delay_seconds - guesses.usual_delay_seconds as told_above_seconds,
        -- weights are in hundredths
        100 * parameters.error_passages as error_weight
    from {{ built('delay_guesses') }} as guesses
    cross join {{ ref('inference_parameters') }} as parameters
    where guesses.holdout > 0
),

slopes as (
    -- how much of what is told, above the usual delay, still holds after the gap: with little data, all of it
    select
        operator,
        service_date,
        side,
        gap_class,
        least(greatest(coalesce(
            (
                sum(weight * above_seconds * told_above_seconds)
                + sum(weight * told_above_seconds * told_above_seconds) * max(error_weight) / sum(weight)
            )
            / nullif(
                sum(weight * told_above_seconds * told_above_seconds)
                * (1.0 + cast(max(error_weight) as double) / sum(weight)),
                0
            ),
            1
        ), 0), 1) as slope
    from hidden
    group by operator, service_date, side, gap_class
),

residuals as (
    select
        hidden.*,
        slopes.slope,
        cast(round(hidden.above_seconds - slopes.slope * hidden.told_above_seconds) as bigint) as residual_seconds
    from hidden
    inner join slopes using (operator, service_date, side, gap_class)
),

classes as (
    select
        days.operator,
        days.service_date,
        sides.side,
        gap_classes.gap_class,
        delay_classes.delay_class
    from (select distinct
        operator,
        service_date
    from {{ built('due_calls') }}) as days
    cross join (
        values ('none'), ('none_at_first_stop'), ('first_stop'), ('before'), ('after'), ('between')
    ) as sides (side)
    cross join {{ whole_numbers(0, 7) }} as gap_classes (gap_class)
    cross join {{ whole_numbers(-4, 9) }} as delay_classes (delay_class)
),

counts as (
    select
        classes.*,
        count(residuals.residual_seconds) as n_hidden,
        coalesce(sum(residuals.weight), 0) as weight,
        coalesce(sum(residuals.weight * residuals.residual_seconds), 0) as residual_sum,
        coalesce(sum(residuals.weight * residuals.residual_seconds * residuals.residual_seconds), 0) as square_sum
    from classes
    left join residuals using (operator, service_date, side, gap_class, delay_class)
    group by
        classes.operator, classes.service_date, classes.side, classes.gap_class, classes.delay_class
),

wider as (
    select
        counts.*,
        100 * parameters.error_passages as error_weight,
        parameters.least_error_seconds,
        (
            sum(counts.square_sum) over same_side
            + 100 * parameters.error_passages * power(parameters.unknown_error_seconds, 2)
        ) / (sum(counts.weight) over same_side + 100 * parameters.error_passages) as side_square,
        sum(counts.weight) over same_gap as gap_weight,
        sum(counts.residual_sum) over same_gap as gap_residual_sum,
        sum(counts.square_sum) over same_gap as gap_square_sum
    from counts
    cross join {{ ref('inference_parameters') }} as parameters
    window
        same_side as (partition by counts.operator, counts.service_date, counts.side),
        same_gap as (partition by counts.operator, counts.service_date, counts.side, counts.gap_class)
),

means as (
    select
        wider.*,
        (residual_sum + error_weight * gap_residual_sum / (gap_weight + error_weight))
        / (weight + error_weight) as bias_seconds,
        (
            square_sum
            + error_weight * (gap_square_sum + error_weight * side_square) / (gap_weight + error_weight)
        ) / (weight + error_weight) as mean_square
    from wider
)

select
    means.operator,
    means.service_date,
    means.side,
    means.gap_class,
    means.delay_class,
    means.n_hidden,
    coalesce(slopes.slope, 1) as slope,
    means.bias_seconds,
    greatest(sqrt(greatest(means.mean_square - power(means.bias_seconds, 2), 0)), means.least_error_seconds)
        as error_seconds
from means
left join slopes using (operator, service_date, side, gap_class)
