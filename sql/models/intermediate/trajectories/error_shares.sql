-- One row per operator, service_date and side: how many of the standardised errors of hidden passages are at most -6,
-- -5.9 … 6, as a list of shares. With few passages they lean on the normal distribution.
with hidden as (
    select
        operator,
        service_date,
        side,
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
        count(hidden.tenths) as n_hidden
    from sides
    cross join {{ whole_numbers(-60, 60) }} as classes (tenths)
    left join hidden using (operator, service_date, side, tenths)
    group by sides.operator, sides.service_date, sides.side, classes.tenths
),

cumulated as (
    select
        counts.*,
        parameters.share_passages,
        sum(counts.n_hidden) over (
            partition by counts.operator, counts.service_date, counts.side order by counts.tenths
            rows between unbounded preceding and current row
        ) as n_up_to,
        sum(counts.n_hidden) over (
            partition by counts.operator, counts.service_date, counts.side
        ) as n_of_side
    from counts
    cross join {{ ref('inference_parameters') }} as parameters
)

select
    operator,
    service_date,
    side,
    max(n_of_side) as n_hidden,
    {{ list_in_order(
        "(n_up_to + share_passages * " ~ normal_share("tenths / 10.0") ~ ") / (n_of_side + share_passages)", "tenths"
    ) }} as shares
from cumulated
group by operator, service_date, side
