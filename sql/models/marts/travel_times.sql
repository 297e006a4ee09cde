-- One row per operator, service_date, line, direction, pair of positions and service_hour: how long buses took between
-- two stops, with bounds. Pairs are neighbouring stops, and the origin with every later stop. Only observed passages
-- count, in the hour of the first stop.
with visits as (
    select
        operator,
        service_date,
        line_code,
        direction,
        trip_id,
        position,
        stop_code,
        service_hour,
        scheduled_at,
        passed_after,
        passed_at,
        passed_before,
        ruleset_version,
        row_number() over (
            partition by operator, service_date, line_code, direction, trip_id
            order by passed_at, position, visit_number
        ) as visit_order
    from {{ built('stop_visits') }}
    where
        arrival_quality in ('evidenced', 'bounded')
        and line_code is not null
        and position is not null
),

trips as (
    -- the trip's last visit to its origin before each of its visits
    select
        *,
        max(case when position = 1 then visit_order end) over (
            partition by operator, service_date, line_code, direction, trip_id
            order by visit_order rows between unbounded preceding and 1 preceding
        ) as origin_order
    from visits
),

pairs as (
    select
        later.operator,
        later.service_date,
        later.line_code,
        later.direction,
        earlier.position as from_position,
        later.position as to_position,
        earlier.stop_code as from_stop_code,
        later.stop_code as to_stop_code,
        earlier.service_hour,
        {{ seconds_between('earlier.passed_at', 'later.passed_at') }} as seconds,
        greatest({{ seconds_between('earlier.passed_before', 'later.passed_after') }}, 0) as low_seconds,
        {{ seconds_between('earlier.passed_after', 'later.passed_before') }} as high_seconds,
        {{ seconds_between('earlier.scheduled_at', 'later.scheduled_at') }} as scheduled_seconds,
        later.ruleset_version
    from trips as later
    inner join trips as earlier
        on
            later.operator = earlier.operator
            and later.service_date = earlier.service_date
            and later.line_code = earlier.line_code
            and later.direction = earlier.direction
            and later.trip_id = earlier.trip_id
            and later.position > earlier.position
            and (
                earlier.visit_order = later.origin_order
                or (earlier.visit_order = later.visit_order - 1 and earlier.position = later.position - 1)
            )
)

select
    operator,
    service_date,
    line_code,
    direction,
    from_position,
    to_position,
    service_hour,
    min(from_stop_code) as from_stop_code,
    min(to_stop_code) as to_stop_code,
    from_position = 1 as is_from_origin,
    to_position = from_position + 1 as is_adjacent,
    count(*) as n_trips,
    cast(sum(round(seconds)) as bigint) as seconds_sum,
    cast(sum(round(seconds) * round(seconds)) as bigint) as seconds_squared_sum,
    cast(sum(floor(low_seconds)) as bigint) as low_seconds_sum,
    cast(sum(ceil(high_seconds)) as bigint) as high_seconds_sum,
    count(scheduled_seconds) as n_trips_with_schedule,
    cast(coalesce(sum(case when scheduled_seconds is not null then round(seconds) end), 0) as bigint)
        as seconds_of_scheduled_sum,
    cast(coalesce(sum(round(scheduled_seconds)), 0) as bigint) as scheduled_seconds_sum,
    max(ruleset_version) as ruleset_version
from pairs
group by operator, service_date, line_code, direction, from_position, to_position, service_hour
