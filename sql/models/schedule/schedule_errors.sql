-- One row per operator, service_date, basis and class of gap: the standard error of scheduled times.
-- Measured on known times that were hidden and estimated on that basis (call_times). Classes with few of them lean on
-- their basis, and that on the largest error of a time that counts as known.
with hidden as (
    select
        operator,
        service_date,
        basis,
        gap_seconds,
        running_seconds - own_seconds as off_seconds
    from {{ built('call_times') }}
    where is_hidden and own_seconds is not null
    union all
    -- where no time of a departure is known, the usual travel times count from the departure
    select
        operator,
        service_date,
        'travel' as basis,
        travel_seconds as gap_seconds,
        travel_seconds - own_seconds as off_seconds
    from {{ built('call_times') }}
    where own_seconds is not null and holdout = 0 and travel_seconds > 0
    union all
    select
        operator,
        service_date,
        'earlier' as basis,
        0 as gap_seconds,
        earlier_seconds - own_seconds as off_seconds
    from {{ built('call_times') }}
    where own_seconds is not null and earlier_seconds is not null and holdout = 0
),

squares as (
    select
        hidden.operator,
        hidden.service_date,
        hidden.basis,
        {{ schedule_gap_class('hidden.gap_seconds') }} as gap_class,
        cast(round(least(power(hidden.off_seconds, 2), power(parameters.largest_schedule_error_seconds, 2))) as bigint)
            as square
    from hidden
    cross join {{ ref('inference_parameters') }} as parameters
    where hidden.off_seconds is not null
),

classes as (
    select
        days.operator,
        days.service_date,
        bases.basis,
        gap_classes.gap_class
    from (select distinct
        operator,
        service_date
    from {{ built('call_times') }}) as days
    cross join (values ('earlier'), ('agreed'), ('learned'), ('copied'), ('travel')) as bases (basis)
    cross join {{ whole_numbers(0, 7) }} as gap_classes (gap_class)
),

sums as (
    select
        classes.*,
        count(squares.square) as n_hidden,
        coalesce(sum(squares.square), 0) as square_sum
    from classes
    left join squares using (operator, service_date, basis, gap_class)
    group by classes.operator, classes.service_date, classes.basis, classes.gap_class
)

select
    sums.operator,
    sums.service_date,
    sums.basis,
    sums.gap_class,
    sums.n_hidden,
    sqrt(
        (
            sums.square_sum
            + parameters.error_passages * (
                sum(sums.square_sum) over same_basis
                + parameters.error_passages * power(parameters.timed_error_seconds, 2)
            ) / (sum(sums.n_hidden) over same_basis + parameters.error_passages)
        ) / (sums.n_hidden + parameters.error_passages)
    ) as error_seconds
from sums
cross join {{ ref('inference_parameters') }} as parameters
window same_basis as (partition by sums.operator, sums.service_date, sums.basis)
