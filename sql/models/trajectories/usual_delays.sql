-- One row per due call: the delay to expect where nothing is known of its trip, learned from the other trips of the
-- date: what is usual for the line then (usual_line_delays), and by how much buses of the line are later or earlier at
-- the stop than at the other stops of their trips, as far as stops differ by more than chance does.
with compared as (
    -- with the other passages of the trip
    select
        *,
        cast(round(
            above_seconds
            - ((sum(above_seconds) over trip) - above_seconds) / nullif((count(above_seconds) over trip) - 1, 0)
        ) as bigint) as at_stop_seconds
    from {{ ref('usual_line_delays') }}
    window trip as (partition by departure_key)
),

stops as (
    select
        {{ of_days(["line_code", "direction", "position"]) }},
        {{ sums_of_group("at_stop_seconds") }}
    from compared
    where at_stop_seconds is not null
    group by {{ of_days(["line_code", "direction", "position"]) }}
),

stops_variances as (
    {{ variances_of_groups("stops") }}
),

others as (
    -- without the trip itself, so that what is hidden is not told
    select
        compared.*,
        stops.above_sum - coalesce(compared.at_stop_seconds, 0) as above_sum,
        coalesce(stops.n_trips, 0) - case when compared.at_stop_seconds is null then 0 else 1 end as n_trips,
        coalesce(variances.group_variance, 0) as group_variance,
        coalesce(variances.trip_variance, 0) as trip_variance
    from compared
    left join stops using (operator, service_date, line_code, direction, position)
    left join stops_variances as variances using (operator, service_date)
)

select
    departure_key,
    operator,
    service_date,
    position,
    cast(round(
        usual_line_delay_seconds
        + {{ mean_of_group("above_sum", "n_trips", "group_variance", "trip_variance") }}
    ) as bigint) as usual_delay_seconds,
    -- what is not known of the stop is wrong in the same way for all buses of the line
    sqrt({{ error_variance_of_group("n_trips", "group_variance", "trip_variance") }}) as usual_error_seconds,
    usual_line_error_seconds
from others
