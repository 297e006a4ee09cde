-- One row per due call, and per hidden passage: the delay to expect by what is known of its trip, line and hour, and
-- how uncertain it is by the errors of hidden passages: those of its class, times how much larger or smaller than usual
-- those of its line were.
-- A class is of a side, of gaps and of delays. Each hidden passage has a weight; classes with few of them lean on wider
-- ones.
{%- set gap_class = "operator, service_date, side, gap_class" %}
with told as (
    -- passages tell by how much the bus was later than usual there
    select
        passages.*,
        usual.usual_delay_seconds,
        passages.delay_seconds_before - usual_before.usual_delay_seconds as above_seconds_before,
        passages.delay_seconds_after - usual_after.usual_delay_seconds as above_seconds_after
    from {{ built('nearest_passages') }} as passages
    inner join {{ built('usual_delays') }} as usual using (operator, service_date, departure_key, position)
    left join {{ built('usual_delays') }} as usual_before
        on
            passages.departure_key = usual_before.departure_key
            and passages.position_before = usual_before.position
    left join {{ built('usual_delays') }} as usual_after
        on
            passages.departure_key = usual_after.departure_key
            and passages.position_after = usual_after.position
),

guesses as (
    select
        told.*,
        told.delay_seconds - told.usual_delay_seconds as above_seconds,
        cast(round({{ told_by_neighbours("above_seconds") }}) as bigint) + told.wrong_match_seconds
            as told_above_seconds,
        told.holdout > 0 as is_hidden,
        -- weights are in hundredths
        100 * parameters.error_passages as error_weight
    from told
    cross join {{ ref('inference_parameters') }} as parameters
),

slopes as (
    -- how much of what is told, above the usual delay, still holds after the gap: with little data, all of it
    select
        {{ gap_class }},
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
    from guesses
    where is_hidden
    group by {{ gap_class }}
),

residuals as (
    select
        guesses.*,
        coalesce(slopes.slope, 1) as slope,
        -- in whole minutes
        cast(least(greatest(floor((usual_delay_seconds + told_above_seconds) / 60), -4), 9) as bigint) as delay_class,
        case when is_hidden then weight else 0 end as hidden_weight,
        case
            when is_hidden
                then cast(round(above_seconds - coalesce(slopes.slope, 1) * told_above_seconds) as bigint)
            else 0
        end as residual_seconds
    from guesses
    left join slopes using ({{ gap_class }})
),

classes as (
    select
        {{ gap_class }},
        delay_class,
        max(error_weight) as error_weight,
        sum(hidden_weight) as weight,
        sum(hidden_weight * residual_seconds) as residual_sum,
        sum(hidden_weight * residual_seconds * residual_seconds) as square_sum
    from residuals
    group by {{ gap_class }}, delay_class
),

wider as (
    select
        classes.*,
        parameters.least_error_seconds,
        (sum(square_sum) over same_side + error_weight * power(parameters.unknown_error_seconds, 2))
        / (sum(weight) over same_side + error_weight) as side_square,
        sum(weight) over same_gap as gap_weight,
        sum(residual_sum) over same_gap as gap_residual_sum,
        sum(square_sum) over same_gap as gap_square_sum
    from classes
    cross join {{ ref('inference_parameters') }} as parameters
    window
        same_side as (partition by operator, service_date, side),
        same_gap as (partition by {{ gap_class }})
),

means as (
    select
        *,
        (residual_sum + error_weight * gap_residual_sum / (gap_weight + error_weight))
        / (weight + error_weight) as bias_seconds,
        (
            square_sum
            + error_weight * (gap_square_sum + error_weight * side_square) / (gap_weight + error_weight)
        ) / (weight + error_weight) as mean_square
    from wider
),

expected as (
    select
        guesses.*,
        guesses.usual_delay_seconds + guesses.slope * guesses.told_above_seconds + means.bias_seconds
            as expected_seconds,
        greatest(sqrt(greatest(means.mean_square - power(means.bias_seconds, 2), 0)), means.least_error_seconds)
            as class_error_seconds
    from residuals as guesses
    inner join means using ({{ gap_class }}, delay_class)
),

lines as (
    -- squared errors in thousandths, as whole numbers, so that their sum does not depend on the order; on average 1
    select
        operator,
        service_date,
        line_code,
        direction,
        count(*) as n_hidden,
        sum(cast(round(1000 * least(
            power((delay_seconds - expected_seconds) / class_error_seconds, 2), 9
        )) as bigint)) as square_sum
    from expected
    where is_hidden
    group by operator, service_date, line_code, direction
),

compared as (
    select
        *,
        -- as usual, if no hidden passage of the date was off
        coalesce(
            square_sum / nullif(sum(square_sum) over days / cast(sum(n_hidden) over days as double), 0), n_hidden
        ) as relative_sum
    from lines
    window days as (partition by operator, service_date)
)

select
    expected.departure_key,
    expected.operator,
    expected.service_date,
    expected.line_code,
    expected.direction,
    expected.position,
    expected.holdout,
    expected.weight,
    expected.side,
    {{ shape_class('expected.side', 'expected.gap_class', 'expected.delay_class') }} as shape_class,
    expected.delay_seconds,
    expected.told_schedule_error_seconds,
    expected.expected_seconds,
    expected.class_error_seconds * sqrt(
        {{ leaning_mean("lines.relative_sum", "lines.n_hidden", "1", "parameters.usual_weight") }}
    ) as error_seconds,
    -- hidden passages were seen; those that were not vary more
    case when expected.side in ('first_stop', 'before', 'after') then parameters.unseen_spread_factor else 1 end
        as unseen_factor
from expected
cross join {{ ref('inference_parameters') }} as parameters
left join compared as lines using (operator, service_date, line_code, direction)
