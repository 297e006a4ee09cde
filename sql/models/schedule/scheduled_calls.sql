-- One row per departure in force and position of its leg: when its bus is due there, where that is known from, and with
-- what standard error. All other tables have their scheduled times from here.
-- The standard error is that of known times which were hidden and estimated on the same basis (call_times). Classes of
-- few hidden times lean on their basis, and that on the largest error of a time that counts as known.
with hidden as (
    select
        *,
        basis as hidden_basis,
        gap_seconds as hidden_gap_seconds,
        running_seconds - own_seconds as off_seconds
    from {{ built('call_times') }}
    where is_hidden and own_seconds is not null
    union all
    -- where no time of a departure is known, the usual travel times count from the departure
    select
        *,
        'travel' as hidden_basis,
        travel_seconds as hidden_gap_seconds,
        travel_seconds - own_seconds as off_seconds
    from {{ built('call_times') }}
    where own_seconds is not null and holdout = 0 and travel_seconds > 0
    union all
    select
        *,
        'earlier' as hidden_basis,
        0 as hidden_gap_seconds,
        earlier_seconds - own_seconds as off_seconds
    from {{ built('call_times') }}
    where own_seconds is not null and earlier_seconds is not null and holdout = 0
),

lines as (
    -- how many unknown times of a line each known one stands for, in hundredths: of dense service few are known
    select
        operator,
        service_date,
        line_code,
        direction,
        cast(round(
            100e0 * count(case when basis != 'own' then 1 end) / greatest(count(case when basis = 'own' then 1 end), 1)
        ) as bigint) as weight
    from {{ built('call_times') }}
    where holdout = 0
    group by operator, service_date, line_code, direction
),

squares as (
    select
        hidden.operator,
        hidden.service_date,
        hidden.hidden_basis as basis,
        {{ schedule_gap_class('hidden.hidden_gap_seconds') }} as gap_class,
        lines.weight,
        cast(round(least(power(hidden.off_seconds, 2), power(parameters.largest_schedule_error_seconds, 2))) as bigint)
            as square
    from hidden
    cross join {{ ref('inference_parameters') }} as parameters
    inner join lines using (operator, service_date, line_code, direction)
    where hidden.off_seconds is not null
),

classes as (
    select
        operator,
        service_date,
        basis,
        gap_class,
        sum(weight) as weight,
        sum(weight * square) as square_sum
    from squares
    group by operator, service_date, basis, gap_class
),

bases as (
    select
        operator,
        service_date,
        basis,
        sum(weight) as weight,
        sum(square_sum) as square_sum
    from classes
    group by operator, service_date, basis
),

timed as (
    select
        calls.*,
        times.basis,
        times.gap_seconds,
        round(calls.departure_seconds + times.running_seconds) as scheduled_seconds,
        sqrt({{ leaning_mean(
            "classes.square_sum", "classes.weight",
            leaning_mean(
                "bases.square_sum", "bases.weight", "power(parameters.timed_error_seconds, 2)",
                "100 * parameters.error_passages"
            ),
            "100 * parameters.error_passages"
        ) }}) as class_error_seconds
    from {{ built('known_times') }} as calls
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ built('call_times') }} as times using (departure_key, position)
    left join bases
        on times.operator = bases.operator and times.service_date = bases.service_date and times.basis = bases.basis
    left join classes
        on
            times.operator = classes.operator
            and times.service_date = classes.service_date
            and times.basis = classes.basis
            and {{ schedule_gap_class('times.gap_seconds') }} = classes.gap_class
    where times.holdout = 0
),

between_known as (
    -- the standard error of the nearest times of the departure, before and after, that are not by travel times
    select
        *,
        case basis when 'own' then 0 else class_error_seconds end as told_error_seconds,
        {{ nearest_known(
            {"told_error_seconds": "case basis when 'own' then 0 else class_error_seconds end"}, "basis != 'travel'"
        ) }},
        {{ nearest_known({"listed": "scheduled_seconds"}, "basis in ('own', 'earlier', 'agreed')") }}
    from timed
    window
        {{ windows_around("departure_key", "position") }}
)

select
    calls.departure_key,
    calls.operator,
    calls.service_date,
    calls.line_code,
    calls.direction,
    calls.leg,
    calls.departure_at,
    calls.zero_at,
    calls.departure_seconds,
    calls.position,
    calls.stop_code,
    calls.is_first_stop,
    calls.is_last_stop,
    calls.visit_key,
    cast(calls.scheduled_seconds as bigint) as scheduled_seconds,
    cast(floor(calls.scheduled_seconds / 3600) as bigint) as service_hour,
    add_seconds(calls.zero_at, calls.scheduled_seconds) as scheduled_at,
    case calls.basis
        when 'own' then calls.schedule_source
        when 'earlier' then 'earlier'
        when 'travel' then 'running_time'
        else 'pattern'
    end as schedule_source,
    -- a time by travel times is as unsure as the times that it counts from, and by how far it is from them. Hidden
    -- times tell too little of that: the travel times are of the same timetable rows, which other stops lack
    case
        when calls.basis = 'travel'
            then
                sqrt(
                    power(greatest(calls.class_error_seconds, parameters.match_travel_share * calls.gap_seconds), 2)
                    + power(parameters.untold_stop_error_seconds, 2)
                    + power(
                        coalesce(greatest(calls.told_error_seconds_before, calls.told_error_seconds_after), 0), 2
                    )
                )
        -- one by the pattern of another departure is the less sure, the farther the nearest time is that is known
        when calls.basis in ('learned', 'copied')
            then
                sqrt(power(calls.told_error_seconds, 2) + power(
                    parameters.pattern_travel_share
                    * coalesce(
                        least(
                            calls.scheduled_seconds - calls.listed_before, calls.listed_after - calls.scheduled_seconds
                        ),
                        calls.scheduled_seconds - calls.departure_seconds
                    ), 2
                ))
        else calls.told_error_seconds
    end as error_seconds
from between_known as calls
cross join {{ ref('inference_parameters') }} as parameters
