-- One row per operator, service_date, trip, stop and visit that no timetable tells a time of but other trips do: the
-- time learned from those that went the same way.
with calls as (
    select
        operator,
        service_date,
        trip_id,
        stop_code,
        visit_number,
        line_code,
        direction,
        leg,
        position,
        call_number,
        told_at,
        departure_at
    from {{ ref('trip_calls') }}
    where {{ is_built() }}
),

untold as (
    -- visits without a timetable time, and the nearest call of their own trip that has one
    select
        *,
        case
            when before_call is null or after_call - call_number < call_number - before_call then after_call
            else before_call
        end as near_call
    from (
        select
            *,
            last_value(case when told_at is not null then call_number end ignore nulls) over before as before_call,
            first_value(case when told_at is not null then call_number end ignore nulls) over after as after_call,
            min(case when told_at is not null then call_number end) over trip as first_told_call,
            max(case when told_at is not null then call_number end) over trip as last_told_call
        from calls
        where position is not null
        window
            trip as (partition by operator, service_date, trip_id, line_code, direction),
            before as (
                partition by operator, service_date, trip_id, line_code, direction order by call_number
                rows between unbounded preceding and 1 preceding
            ),
            after as (
                partition by operator, service_date, trip_id, line_code, direction order by call_number
                rows between 1 following and unbounded following
            )
    ) as placed
    where told_at is null
),

anchored as (
    -- where none has, the departure it was matched with, and its first call
    select
        untold.operator,
        untold.service_date,
        untold.trip_id,
        untold.stop_code,
        untold.visit_number,
        untold.line_code,
        untold.direction,
        untold.position,
        untold.leg,
        untold.near_call is not null as is_near,
        coalesce(near.told_at, untold.departure_at) as anchor_at,
        near.position as near_position,
        -- a loop passes a position twice
        sign(near.call_number - untold.call_number) as near_side,
        far.position as far_position,
        {{ seconds_between('far.told_at', 'near.told_at') }} as told_seconds
    from untold
    inner join calls as near
        on
            untold.operator = near.operator
            and untold.service_date = near.service_date
            and untold.trip_id = near.trip_id
            and untold.line_code = near.line_code
            and untold.direction = near.direction
            and coalesce(untold.near_call, 1) = near.call_number
    left join calls as far
        on
            untold.operator = far.operator
            and untold.service_date = far.service_date
            and untold.trip_id = far.trip_id
            and untold.line_code = far.line_code
            and untold.direction = far.direction
            and far.call_number
            = case when near.call_number < untold.call_number then untold.first_told_call else untold.last_told_call end
    where untold.near_call is not null or untold.departure_at is not null
),

examples as (
    -- trips of the same leg whose timetable times are told at both calls: they took the same way
    select
        anchored.operator,
        anchored.service_date,
        anchored.trip_id,
        anchored.stop_code,
        anchored.visit_number,
        anchored.anchor_at,
        rules.pattern_spread_seconds,
        rules.pattern_beside_seconds,
        {{ seconds_between('case when anchored.is_near then near.told_at else here.departure_at end', 'here.told_at') }}
            as way_seconds,
        {{ seconds_between(
            'anchored.anchor_at', 'case when anchored.is_near then near.told_at else here.departure_at end'
        ) }} as later_seconds,
        -- where the trip's own times tell how long it takes, the other takes as long; null where they tell too little
        case
            when abs(anchored.told_seconds) >= rules.pattern_told_seconds
                then
                    abs({{ seconds_between('far.told_at', 'near.told_at') }} - anchored.told_seconds)
                    <= rules.pattern_alike_seconds
        end as is_alike
    from anchored
    {{ join_rules('anchored.service_date') }}
    inner join calls as here
        on
            anchored.operator = here.operator
            and anchored.service_date = here.service_date
            and anchored.line_code = here.line_code
            and anchored.direction = here.direction
            and coalesce(anchored.leg, '') = coalesce(here.leg, '')
            and anchored.position = here.position
            and here.told_at is not null
    inner join calls as near
        on
            here.operator = near.operator
            and here.service_date = near.service_date
            and here.trip_id = near.trip_id
            and here.line_code = near.line_code
            and here.direction = near.direction
            and anchored.near_position = near.position
            and anchored.near_side = sign(near.call_number - here.call_number)
    left join calls as far
        on
            near.operator = far.operator
            and near.service_date = far.service_date
            and near.trip_id = far.trip_id
            and near.line_code = far.line_code
            and near.direction = far.direction
            and anchored.far_position = far.position
    where near.told_at is not null or not anchored.is_near
),

neighbours as (
    -- the next before and after it: of those that take as long on the way that is known of both, or else of all but
    -- those known to run by another timetable
    select
        *,
        case when later_seconds < 0 then -1 else 1 end as side,
        max(case when is_alike then 1 else 0 end) over (
            partition by operator, service_date, trip_id, stop_code, visit_number
        ) as is_any_alike,
        row_number() over (
            partition by
                operator, service_date, trip_id, stop_code, visit_number, is_alike,
                case when later_seconds < 0 then -1 else 1 end
            order by abs(later_seconds), way_seconds
        ) as nth
    from examples
    where coalesce(is_alike, true)
),

nearest as (
    -- numbered among those chosen: of trips that ran as one, another may have been left out on either count
    select
        *,
        row_number() over (
            partition by operator, service_date, trip_id, stop_code, visit_number
            order by abs(later_seconds), way_seconds
        ) as nth_nearest
    from neighbours
    where case when is_any_alike = 1 then is_alike and nth = 1 else nth <= 2 end
),

patterns as (
    -- it takes as long as the nearest that takes as long on the way that is known of both, unless the next on its
    -- other side goes on differently; or else as two that take about as long, the next before and after it or close
    -- beside it: far from all others it may be faster or slower
    select
        operator,
        service_date,
        trip_id,
        stop_code,
        visit_number,
        case
            when max(way_seconds) - min(way_seconds) > max(pattern_spread_seconds) then null
            when max(is_any_alike) = 0 and count(*) < 2 then null
            when max(is_any_alike) = 0 and min(side) < max(side)
                then {{ add_seconds('max(anchor_at)', 'avg(way_seconds)') }}
            when max(is_any_alike) = 1 or min(abs(later_seconds)) <= max(pattern_beside_seconds)
                then {{ add_seconds('max(anchor_at)', 'max(case when nth_nearest = 1 then way_seconds end)') }}
        end as pattern_at
    from nearest
    group by operator, service_date, trip_id, stop_code, visit_number
),

in_order as (
    -- a trip comes to its stops in order: a learned time earlier than one before it, or later than one after it, is of
    -- another way, and so may the other be if it was learned too
    select
        calls.*,
        patterns.pattern_at,
        coalesce(
            max(coalesce(calls.told_at, patterns.pattern_at)) over before <= patterns.pattern_at, true
        )
        and coalesce(
            min(coalesce(calls.told_at, patterns.pattern_at)) over after >= patterns.pattern_at, true
        ) as is_in_order
    from calls
    left join patterns
        on
            {{ is_same_visit('calls', 'patterns') }}
    window
        before as (
            partition by calls.operator, calls.service_date, calls.trip_id, calls.line_code, calls.direction
            order by calls.call_number rows between unbounded preceding and 1 preceding
        ),
        after as (
            partition by calls.operator, calls.service_date, calls.trip_id, calls.line_code, calls.direction
            order by calls.call_number rows between 1 following and unbounded following
        )
)

select
    in_order.operator,
    in_order.service_date,
    in_order.trip_id,
    in_order.stop_code,
    in_order.visit_number,
    in_order.pattern_at,
    rules.ruleset_version
from in_order
{{ join_rules('in_order.service_date') }}
where in_order.pattern_at is not null and in_order.is_in_order
