-- One row per operator, service_date and side: how many of the standardised errors of hidden passages are at most -6,
-- -5.9 … 6, as a list of shares, each passage with its weight. With few passages they lean on the normal distribution.
with hidden as (
    select
        operator,
        service_date,
        side,
        weight,
        least(greatest(cast(ceil(10 * (delay_seconds - expected_seconds) / error_seconds) as bigint), -60), 60)
            as tenths
    from {{ ref('expected_delays') }}
    where holdout > 0
),

sides as (
    select distinct
        operator,
        service_date,
        side
    from {{ built('delay_errors') }}
),

counts as (
    select
        sides.operator,
        sides.service_date,
        sides.side,
        classes.tenths,
        count(hidden.tenths) as n_hidden,
        coalesce(sum(hidden.weight), 0) as weight
    from sides
    cross join {{ whole_numbers(-60, 60) }} as classes (tenths)
    left join hidden using (operator, service_date, side, tenths)
    group by sides.operator, sides.service_date, sides.side, classes.tenths
),

cumulated as (
    select
        counts.*,
        100 * parameters.share_passages as share_weight,
        sum(counts.weight) over (
            partition by counts.operator, counts.service_date, counts.side order by counts.tenths
            rows between unbounded preceding and current row
        ) as weight_up_to,
        sum(counts.weight) over (
            partition by counts.operator, counts.service_date, counts.side
        ) as weight_of_side
    from counts
    cross join {{ ref('inference_parameters') }} as parameters
)

select
    operator,
    service_date,
    side,
    sum(n_hidden) as n_hidden,
    {{ list_in_order(
        "(weight_up_to + share_weight * " ~ normal_share("tenths / 10.0") ~ ") / (weight_of_side + share_weight)", "tenths"
    ) }} as shares
from cumulated
group by operator, service_date, side
