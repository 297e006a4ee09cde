-- One row per due call: the delay to expect where nothing is known of its trip. To that of its line and hour comes by
-- how much buses of the line are later or earlier at the stop than at the other stops of their trips, as far as stops
-- differ by more than chance does.
with calls as (
    select
        calls.departure_key,
        calls.operator,
        calls.service_date,
        calls.line_code,
        calls.direction,
        calls.position,
        usual.usual_line_delay_seconds,
        case
            when calls.arrival_quality = 'evidenced' and calls.schedule_error_seconds <= parameters.told_error_seconds
                then calls.delay_seconds - usual.usual_line_delay_seconds
        end as above_seconds
    from {{ built('due_calls') }} as calls
    inner join {{ built('usual_line_delays') }} as usual using (operator, service_date, departure_key, position)
    cross join {{ ref('inference_parameters') }} as parameters
),

compared as (
    -- with the other passages of the trip
    select
        *,
        cast(round(
            above_seconds
            - (sum(above_seconds) over trip - above_seconds) / nullif(count(above_seconds) over trip - 1, 0)
        ) as bigint) as at_stop_seconds
    from calls
    window trip as (partition by departure_key)
),

stops as (
    select
        {{ of_days(["line_code", "direction", "position"]) }},
        count(at_stop_seconds) as n_trips,
        sum(at_stop_seconds) as stop_sum,
        cast(round(
            sum(at_stop_seconds * at_stop_seconds) - power(sum(at_stop_seconds), 2) / count(at_stop_seconds)
        ) as bigint) as square_sum
    from compared
    where at_stop_seconds is not null
    group by {{ of_days(["line_code", "direction", "position"]) }}
),

variances as (
    -- among the passages at a stop, and among stops beyond what that explains
    select
        *,
        greatest(between_variance - coalesce(trip_variance, 0) * n_stops / n_trips, 0) as stop_variance
    from (
        select
            operator,
            service_date,
            cast(sum(square_sum) as double) / nullif(sum(n_trips) - count(*), 0) as trip_variance,
            sum(cast(round(power(stop_sum, 2) / n_trips) as bigint)) / cast(sum(n_trips) as double) as between_variance,
            count(*) as n_stops,
            sum(n_trips) as n_trips
        from stops
        group by operator, service_date
    ) as sums
),

others as (
    -- without the trip itself, so that what is hidden is not told
    select
        compared.*,
        stops.stop_sum - coalesce(compared.at_stop_seconds, 0) as stop_sum,
        coalesce(stops.n_trips, 0) - case when compared.at_stop_seconds is null then 0 else 1 end as n_trips,
        coalesce(variances.stop_variance, 0) as stop_variance,
        coalesce(variances.trip_variance, 0) as trip_variance
    from compared
    left join stops using (operator, service_date, line_code, direction, position)
    left join variances using (operator, service_date)
)

select
    departure_key,
    operator,
    service_date,
    position,
    cast(round(
        usual_line_delay_seconds
        + coalesce(stop_sum * stop_variance / nullif(n_trips * stop_variance + trip_variance, 0), 0)
    ) as bigint) as usual_delay_seconds,
    -- what is not known of the stop is wrong in the same way for all buses of the line
    coalesce(sqrt(stop_variance * trip_variance / nullif(n_trips * stop_variance + trip_variance, 0)), 0)
        as stop_error_seconds
from others
