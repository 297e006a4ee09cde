-- One row per operator, service_date, line, direction, leg, position and service_hour of departure: the scheduled
-- running time from the origin of the leg.
-- Learned from timetable rows and provisional matches. The row without an hour is for the whole day. Times that differ
-- too much between trips are left out.
with offsets as (
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        position,
        provisional_hour as service_hour,
        {{ seconds_between('provisional_departure_at', 'theoretical_at') }} as offset_seconds
    from {{ built('leg_visits') }}
    where theoretical_at >= provisional_departure_at
),

hours_and_days as (
    select * from offsets
    union all
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        position,
        null as service_hour,
        offset_seconds
    from offsets
),

times as (
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        position,
        service_hour,
        count(*) as n_trips,
        median(offset_seconds) as offset_seconds,
        -- of the middle 80 %: a few trips may be matched to the departure before or after theirs
        greatest(
            percentile_cont(0.9) within group (order by offset_seconds)
            - percentile_cont(0.1) within group (order by offset_seconds),
            0
        ) as spread_seconds
    from hours_and_days
    group by operator, service_date, line_code, direction, leg, position, service_hour
)

select times.*
from times
cross join {{ ref('inference_parameters') }} as parameters
where
    times.n_trips >= parameters.pattern_min_trips
    and times.spread_seconds <= parameters.pattern_spread_seconds
