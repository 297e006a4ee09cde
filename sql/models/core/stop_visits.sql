-- One row per operator, service_date, trip, stop and visit: when it was due, when it passed, and how sure that is.
with stand_ins as (
    -- timetable rows without an id, and the trip that runs as their departure
    select
        stand_ins.*,
        matches.trip_id as matched_trip_id
    from {{ ref('stand_in_departures') }} as stand_ins
    left join (
        select
            matches.*,
            row_number() over (
                partition by operator, service_date, line_code, direction, leg, departure_at
                order by match_score desc, trip_id
            ) as nth
        from {{ ref('departure_matches') }} as matches
    ) as matches
        on
            stand_ins.operator = matches.operator
            and stand_ins.service_date = matches.service_date
            and stand_ins.line_code = matches.line_code
            and stand_ins.direction = matches.direction
            and stand_ins.leg = matches.leg
            and stand_ins.departure_at = matches.departure_at
            and matches.nth = 1
    where {{ is_built('stand_ins.service_date') }}
),

known as (
    -- a bus takes over the timetable time that its stop showed without an id; the rest are calls nobody saw
    select
        runs.operator,
        runs.service_date,
        case
            when stand_ins.departure_at is null then runs.trip_id
            when stand_ins.matched_trip_id is not null then stand_ins.matched_trip_id
            else {{ stand_in_trip('stand_ins') }}
        end as trip_id,
        case when not runs.is_stand_in then runs.listed_id end as listed_trip_id,
        runs.is_stand_in,
        runs.visit_number,
        runs.theoretical_at,
        runs.stop_code,
        runs.line_code,
        runs.direction,
        runs.position,
        runs.stop_sequence,
        runs.line_label,
        runs.is_slash_variant,
        runs.destination,
        runs.service_hour,
        runs.passed_after,
        runs.passed_before,
        runs.passed_at,
        runs.n_polls,
        runs.n_full_polls,
        runs.n_theoretical_polls,
        runs.n_withdrawn_polls,
        runs.first_seen_at,
        runs.last_seen_at,
        runs.is_lost,
        runs.is_out_of_order,
        case when runs.is_stand_in then stand_ins.departure_at end as stand_in_departure_at
    from {{ ref('visit_runs') }} as runs
    left join stand_ins
        on
            {{ is_same_visit('runs', 'stand_ins') }}
    where {{ is_built('runs.service_date') }}
),

shared as (
    select
        *,
        max(case when is_stand_in then theoretical_at end) over one_call as announced_at,
        row_number() over one_call as nth
    from known
    window one_call as (
        partition by
            operator, service_date, trip_id, line_code, direction, position,
            case when stand_in_departure_at is null and is_stand_in then stop_code end
        order by is_stand_in, visit_number, theoretical_at
        rows between unbounded preceding and unbounded following
    )
),

evidence as (
    select
        operator,
        service_date,
        trip_id,
        listed_trip_id,
        stop_code,
        line_code,
        direction,
        position,
        stop_sequence,
        line_label,
        is_slash_variant,
        destination,
        service_hour,
        passed_after,
        passed_before,
        passed_at,
        n_polls,
        n_full_polls,
        n_theoretical_polls,
        n_withdrawn_polls,
        first_seen_at,
        last_seen_at,
        is_lost,
        is_out_of_order,
        coalesce(theoretical_at, announced_at) as theoretical_at,
        row_number() over (
            partition by operator, service_date, trip_id, stop_code
            order by coalesce(theoretical_at, announced_at, passed_at), visit_number
        ) as visit_number
    from shared
    where nth = 1 or not is_stand_in
),

calls as (
    -- the departure that a trip's matched, and which of its calls each visit is
    select
        evidence.*,
        matches.departure_at,
        matches.leg,
        coalesce(
            evidence.theoretical_at,
            case when evidence.position = matches.origin_position then matches.departure_at end
        ) as told_at,
        row_number() over (
            partition by
                evidence.operator, evidence.service_date, evidence.trip_id, evidence.line_code, evidence.direction
            order by evidence.position nulls last, evidence.visit_number, evidence.stop_code
        ) as call_number
    from evidence
    left join {{ ref('departure_matches') }} as matches
        on
            evidence.operator = matches.operator
            and evidence.service_date = matches.service_date
            and evidence.trip_id = matches.trip_id
            and evidence.line_code = matches.line_code
            and evidence.direction = matches.direction
            and {{ is_built('matches.service_date') }}
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
        ) as nth,
        row_number() over (
            partition by operator, service_date, trip_id, stop_code, visit_number, is_alike
            order by abs(later_seconds), way_seconds
        ) as nth_nearest
    from examples
    where coalesce(is_alike, true)
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
    from neighbours
    where case when is_any_alike = 1 then is_alike and nth = 1 else nth <= 2 end
    group by operator, service_date, trip_id, stop_code, visit_number
),

day_starts as (
    select
        operator,
        service_date,
        min({{ add_seconds('departure_at', '-service_seconds') }}) as starts_at
    from {{ ref('timetable_departures') }}
    where {{ is_built() }}
    group by operator, service_date
),

timed as (
    -- a trip comes to its stops in order: a learned time earlier than one before it, or later than one after it, is of
    -- another way, and so may the other be if it was learned too
    select
        calls.*,
        case
            when
                coalesce(max(coalesce(calls.told_at, patterns.pattern_at)) over before > patterns.pattern_at, false)
                or coalesce(min(coalesce(calls.told_at, patterns.pattern_at)) over after < patterns.pattern_at, false)
                then null
            else patterns.pattern_at
        end as pattern_at
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
),

scheduled as (
    select
        timed.*,
        case
            when timed.theoretical_at is null
                then
                    cast(floor(
                        {{ seconds_between('day_starts.starts_at', 'coalesce(timed.told_at, timed.pattern_at)') }}
                        / 3600
                    ) as bigint)
        end as due_hour,
        coalesce(timed.told_at, timed.pattern_at) as scheduled_at,
        case
            when timed.theoretical_at is not null then 'theoretical'
            when timed.told_at is not null then 'timetable'
            when timed.pattern_at is not null then 'pattern'
        end as schedule_source
    from timed
    left join day_starts
        on
            timed.operator = day_starts.operator
            and timed.service_date = day_starts.service_date
),

passed as (
    select
        *,
        case
            when n_polls = 0 then 'untracked'
            when passed_before is null then 'estimated'
            when {{ seconds_between('passed_after', 'passed_before') }} <= evidenced_seconds then 'evidenced'
            else 'bounded'
        end as arrival_quality
    from scheduled
    {{ join_rules('service_date') }}
),

delayed as (
    select
        *,
        cast(round({{ seconds_between('scheduled_at', 'passed_at') }}) as bigint) as delay_seconds,
        cast(floor({{ seconds_between('scheduled_at', 'passed_after') }}) as bigint) as delay_low_seconds,
        cast(ceil({{ seconds_between('scheduled_at', 'passed_before') }}) as bigint) as delay_high_seconds
    from passed
)

select
    operator,
    service_date,
    trip_id,
    listed_trip_id,
    stop_code,
    visit_number,
    line_code,
    line_label,
    is_slash_variant,
    direction,
    stop_sequence,
    position,
    destination,
    -- the hour it was due in, whatever it was listed for
    coalesce(due_hour, service_hour) as service_hour,
    scheduled_at,
    schedule_source,
    passed_at,
    passed_after,
    passed_before,
    arrival_quality,
    delay_seconds,
    delay_low_seconds,
    delay_high_seconds,
    case
        when scheduled_at is null then 'unscheduled'
        when delay_high_seconds < early_seconds then 'early'
        when delay_low_seconds > late_seconds then 'late'
        when delay_low_seconds >= early_seconds and delay_high_seconds <= late_seconds then 'on_time'
        else 'indeterminate'
    end as punctuality,
    -- the same by the point alone, for shares that leave nobody out whose bounds straddle a threshold; a bus that was
    -- not seen gone has but a prediction, and those made long before are too early on the whole
    case
        when delay_high_seconds < early_seconds then 'early'
        when delay_low_seconds > late_seconds then 'late'
        when arrival_quality not in ('evidenced', 'bounded') then null
        when delay_seconds < early_seconds then 'early'
        when delay_seconds > late_seconds then 'late'
        when delay_seconds is not null then 'on_time'
    end as punctuality_point,
    case when n_polls > 0 then cast(n_full_polls as double) / n_polls end as is_full_share,
    n_polls,
    n_theoretical_polls,
    n_withdrawn_polls,
    is_out_of_order,
    is_lost,
    first_seen_at,
    last_seen_at,
    ruleset_version
from delayed
