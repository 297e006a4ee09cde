-- One row per operator, service_date, side and class of shape: how many of the standardised errors of hidden passages
-- were at most -6, -5.9 … 6, as a list of shares, each passage with its weight.
-- The further away the nearest passages are, the more skewed errors are; at first stops, the less late the bus seems to
-- be. A class with few passages leans on its side, a side with few on the normal distribution.
with hidden as (
    select
        operator,
        service_date,
        side,
        shape_class,
        weight,
        least(greatest(cast(ceil(10 * (delay_seconds - expected_seconds) / error_seconds) as bigint), -60), 60)
            as tenths
    from {{ built('expected_delays') }}
    where holdout > 0
),

classes as (
    select distinct
        operator,
        service_date,
        side,
        shape_class
    from {{ built('expected_delays') }}
),

counts as (
    select
        classes.operator,
        classes.service_date,
        classes.side,
        classes.shape_class,
        numbers.tenths,
        count(hidden.tenths) as n_hidden,
        coalesce(sum(hidden.weight), 0) as weight
    from classes
    cross join range(-60, 61) as numbers (tenths)
    left join hidden using (operator, service_date, side, shape_class, tenths)
    group by classes.operator, classes.service_date, classes.side, classes.shape_class, numbers.tenths
),

cumulated as (
    select
        counts.*,
        100 * parameters.usual_weight as share_weight,
        sum(counts.weight) over (
            partition by counts.operator, counts.service_date, counts.side, counts.shape_class order by counts.tenths
        ) as weight_up_to,
        sum(counts.weight) over (
            partition by counts.operator, counts.service_date, counts.side, counts.shape_class
        ) as weight_of_class,
        sum(counts.weight) over (
            partition by counts.operator, counts.service_date, counts.side order by counts.tenths
        ) as side_weight_up_to,
        sum(counts.weight) over (
            partition by counts.operator, counts.service_date, counts.side
        ) as weight_of_side
    from counts
    cross join {{ ref('inference_parameters') }} as parameters
),

sides as (
    select
        *,
        (side_weight_up_to + share_weight * {{ normal_share("tenths / 10.0") }}) / (weight_of_side + share_weight)
            as side_share
    from cumulated
)

select
    operator,
    service_date,
    side,
    shape_class,
    sum(n_hidden) as n_hidden,
    {{ list_in_order(
        "(weight_up_to + share_weight * side_share) / (weight_of_class + share_weight)", "tenths"
    ) }} as shares
from sides
group by operator, service_date, side, shape_class
