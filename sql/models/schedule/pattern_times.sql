-- One row per operator, service_date, trip, stop and visit without a timetable time: the time learned from trips that
-- went the same way, where there are any.
with calls as (
    select
        visit_key,
        trip_key,
        operator,
        service_date,
        trip_id,
        stop_code,
        line_code,
        direction,
        leg,
        position,
        call_number,
        timetable_at,
        departure_at
    from {{ built('trip_calls') }}
),

untimed as (
    -- calls without a timetable time, and the nearest call of their own trip that has one
    select
        *,
        case
            when call_before is null or call_after - call_number < call_number - call_before then call_after
            else call_before
        end as near_call
    from (
        select
            *,
            {{ nearest_known({"call": "call_number"}, "timetable_at is not null") }},
            min(case when timetable_at is not null then call_number end) over trip as first_timed_call,
            max(case when timetable_at is not null then call_number end) over trip as last_timed_call
        from calls
        where position is not null
        window
            trip as (partition by trip_key, line_code, direction),
            {{ windows_around("trip_key, line_code, direction", "call_number") }}
    ) as placed
    where timetable_at is null
),

anchored as (
    -- where the trip has none, the departure it is matched with is the time of its first call
    select
        untimed.visit_key,
        untimed.operator,
        untimed.service_date,
        untimed.line_code,
        untimed.direction,
        untimed.position,
        untimed.leg,
        untimed.near_call is not null as is_near,
        coalesce(near.timetable_at, untimed.departure_at) as anchor_at,
        near.position as near_position,
        -- before or after: a loop passes a position twice
        sign(near.call_number - untimed.call_number) as near_side,
        far.position as far_position,
        {{ seconds_between('far.timetable_at', 'near.timetable_at') }} as known_seconds
    from untimed
    inner join calls as near
        on
            untimed.trip_key = near.trip_key
            and untimed.line_code = near.line_code
            and untimed.direction = near.direction
            and coalesce(untimed.near_call, 1) = near.call_number
    left join calls as far
        on
            untimed.trip_key = far.trip_key
            and untimed.line_code = far.line_code
            and untimed.direction = far.direction
            and far.call_number
            = case
                when near.call_number < untimed.call_number then untimed.first_timed_call
                else untimed.last_timed_call
            end
    where untimed.near_call is not null or untimed.departure_at is not null
),

examples as (
    -- trips of the same leg with timetable times at both calls
    select
        anchored.visit_key,
        anchored.anchor_at,
        parameters.pattern_spread_seconds,
        parameters.pattern_near_seconds,
        {{ seconds_between(
            'case when anchored.is_near then near.timetable_at else here.departure_at end', 'here.timetable_at'
        ) }} as travel_seconds,
        {{ seconds_between(
            'anchored.anchor_at', 'case when anchored.is_near then near.timetable_at else here.departure_at end'
        ) }} as later_seconds,
        -- whether the other trip takes as long between the known calls; null where too little of the trip is known
        case
            when abs(anchored.known_seconds) >= parameters.pattern_compared_seconds
                then
                    abs({{ seconds_between('far.timetable_at', 'near.timetable_at') }} - anchored.known_seconds)
                    <= parameters.pattern_same_seconds
        end as is_same_pattern
    from anchored
    cross join {{ ref('inference_parameters') }} as parameters
    inner join calls as here
        on
            anchored.operator = here.operator
            and anchored.service_date = here.service_date
            and anchored.line_code = here.line_code
            and anchored.direction = here.direction
            and coalesce(anchored.leg, '') = coalesce(here.leg, '')
            and anchored.position = here.position
            and here.timetable_at is not null
    inner join calls as near
        on
            here.trip_key = near.trip_key
            and here.line_code = near.line_code
            and here.direction = near.direction
            and anchored.near_position = near.position
            and anchored.near_side = sign(near.call_number - here.call_number)
    left join calls as far
        on
            near.trip_key = far.trip_key
            and near.line_code = far.line_code
            and near.direction = far.direction
            and anchored.far_position = far.position
    where near.timetable_at is not null or not anchored.is_near
),

neighbours as (
    -- ranked before and after it by time, apart for those of the same pattern and those that cannot be compared; trips
    -- known to run by another pattern are left out
    select
        *,
        case when later_seconds < 0 then -1 else 1 end as side,
        max(case when is_same_pattern then 1 else 0 end) over (partition by visit_key) as is_any_same,
        row_number() over (
            partition by visit_key, is_same_pattern, case when later_seconds < 0 then -1 else 1 end
            order by abs(later_seconds), travel_seconds
        ) as nth
    from examples
    where coalesce(is_same_pattern, true)
),

nearest as (
    -- the next before and after of the same pattern, or else the next two on each side; ranked again among those, so
    -- that trips at the same time do not displace each other
    select
        *,
        row_number() over (partition by visit_key order by abs(later_seconds), travel_seconds) as nth_nearest
    from neighbours
    where case when is_any_same = 1 then is_same_pattern and nth = 1 else nth <= 2 end
),

patterns as (
    -- null where the chosen trips differ by too much, or where nothing can be compared and there are not two trips, one
    -- before and one after it, or two close in time
    select
        visit_key,
        case
            when max(travel_seconds) - min(travel_seconds) > max(pattern_spread_seconds) then null
            when max(is_any_same) = 0 and count(*) < 2 then null
            when max(is_any_same) = 0 and min(side) < max(side)
                then {{ add_seconds('max(anchor_at)', 'round(avg(travel_seconds))') }}
            when max(is_any_same) = 1 or min(abs(later_seconds)) <= max(pattern_near_seconds)
                then {{ add_seconds('max(anchor_at)', 'max(case when nth_nearest = 1 then travel_seconds end)') }}
        end as pattern_at
    from nearest
    group by visit_key
),

checked as (
    -- a trip comes to its stops in order: a learned time earlier than one before it, or later than one after it, is of
    -- another way; so may the other one be, if it was learned too, and both are left out
    select
        calls.*,
        patterns.pattern_at,
        coalesce(
            max(coalesce(calls.timetable_at, patterns.pattern_at)) over before <= patterns.pattern_at, true
        )
        and coalesce(
            min(coalesce(calls.timetable_at, patterns.pattern_at)) over after >= patterns.pattern_at, true
        ) as is_in_order
    from calls
    left join patterns using (visit_key)
    window
        {{ windows_around("calls.trip_key, calls.line_code, calls.direction", "calls.call_number") }}
)

select
    visit_key,
    operator,
    service_date,
    trip_id,
    stop_code,
    pattern_at
from checked
where pattern_at is not null and is_in_order
