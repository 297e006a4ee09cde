-- One row per operator, service_date and matched trip: the scheduled departure it runs as, and how sure that is.
-- Per line and direction, one to one. A trip with a timetable time of its own takes the departure nearest its start,
-- and of several that want the same one the nearest has it. Trips only ever seen live share out the departures that are
-- left: the later a bus is, and the longer its departure had not been listed when the bus appeared, the worse the pair.
-- Timetable rows without an id stand for the departures that no bus took.
with visits as (
    -- a visit counts once for each leg its trip may run as
    select
        runs.operator,
        runs.service_date,
        runs.trip_id,
        runs.stop_code,
        runs.visit_number,
        runs.theoretical_at,
        runs.replaced_at,
        runs.passed_at,
        runs.first_live_at,
        runs.last_theoretical_at,
        runs.passed_after,
        runs.line_code,
        runs.direction,
        runs.position,
        legs.leg,
        legs.origin_position,
        {{ add_seconds('runs.began_at', 'coalesce(origin_paces.pace_seconds, 0)') }} as left_at,
        paces.pace_seconds - origin_paces.pace_seconds as pace_seconds
    from {{ ref('visit_runs') }} as runs
    inner join {{ ref('trip_legs') }} as legs
        on
            runs.operator = legs.operator
            and runs.service_date = legs.service_date
            and runs.trip_id = legs.trip_id
            and runs.line_code = legs.line_code
            and runs.direction = legs.direction
            and coalesce(runs.position >= legs.origin_position, true)
    left join {{ ref('line_paces') }} as paces
        on
            runs.operator = paces.operator
            and runs.service_date = paces.service_date
            and runs.line_code = paces.line_code
            and runs.direction = paces.direction
            and runs.position = paces.position
            and {{ is_built('paces.service_date') }}
    left join {{ ref('line_paces') }} as origin_paces
        on
            legs.operator = origin_paces.operator
            and legs.service_date = origin_paces.service_date
            and legs.line_code = origin_paces.line_code
            and legs.direction = origin_paces.direction
            and legs.origin_position = origin_paces.position
            and {{ is_built('origin_paces.service_date') }}
    where runs.position is not null and not runs.is_stand_in and {{ is_built('runs.service_date') }}
),

starts as (
    -- when a trip is thought to have been due where its leg begins, by each of its timetable times: the one there, or
    -- one at a later stop less the running time; where its leg begins anywhere, its first known one is tried
    select
        visits.*,
        case
            when visits.origin_position is null then visits.position
            -- at the origin itself its own time tells exactly; a row that gave way to it may have been another's
            when visits.position = visits.origin_position and visits.replaced_at is null then 1
            when
                visits.position = visits.origin_position
                or coalesce(of_hour.offset_seconds, of_day.offset_seconds) is not null
                then 2
            else 3
        end as grade,
        case
            when coalesce(visits.position = visits.origin_position, true) then visits.theoretical_at
            else
                {{ add_seconds(
                    'visits.theoretical_at',
                    '-coalesce(of_hour.offset_seconds, of_day.offset_seconds, visits.pace_seconds)'
                ) }}
        end as due_at
    from visits
    left join {{ ref('departure_guesses') }} as guesses
        on
            {{ is_same_visit('visits', 'guesses') }}
            and {{ is_built('guesses.service_date') }}
    {{ join_running_times('visits', 'guesses') }}
    where visits.theoretical_at is not null
),

trip_starts as (
    -- by those that tell best; of several the one in the middle
    select
        graded.*,
        rules.match_theoretical_seconds as bound_seconds,
        rules.ruleset_version,
        case graded.basis
            when 'theoretical_origin' then 1.0
            when 'theoretical_later' then 0.9
            else 0.8
        end as basis_score
    from (
        select
            operator,
            service_date,
            trip_id,
            line_code,
            direction,
            leg,
            origin_position,
            case
                when origin_position is null then 'short_run'
                when min(position) = origin_position then 'theoretical_origin'
                else 'theoretical_later'
            end as basis,
            median(due_at) as due_at,
            -- how much of the way to the origin nothing but the usual pace tells
            case when min(grade) = 3 and origin_position is not null then median(pace_seconds) else 0 end
                as way_seconds
        from (
            select
                *,
                min(grade) over (
                    partition by operator, service_date, trip_id, line_code, direction, leg
                ) as best_grade
            from starts
            where due_at is not null
        ) as starts
        where grade = best_grade
        group by operator, service_date, trip_id, line_code, direction, leg, origin_position
    ) as graded
    {{ join_rules('graded.service_date') }}
),

departures as (
    -- equal departures are numbered, so that as many trips may take them
    select
        operator,
        service_date,
        line_code,
        direction,
        leg,
        departure_at,
        service_code,
        duplicate_number,
        valid_from,
        row_number() over (
            partition by operator, service_date, line_code, direction, leg, departure_at
            order by service_code, duplicate_number, valid_from
        ) as place
    from {{ ref('timetable_departures') }}
    where is_in_force and {{ is_built() }}
),

nearest as (
    select *
    from (
        select
            trips.*,
            departures.departure_at,
            abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}) as off_seconds,
            row_number() over (
                partition by trips.operator, trips.service_date, trips.trip_id
                order by
                    trips.basis_score desc,
                    abs({{ seconds_between('departures.departure_at', 'trips.due_at') }}),
                    departures.departure_at,
                    trips.line_code,
                    trips.direction,
                    departures.leg
            ) as nth_departure
        from trip_starts as trips
        {{ join_rules('trips.service_date') }}
        inner join {{ due_departures() }} as departures
            on
                trips.operator = departures.operator
                and trips.service_date = departures.service_date
                and trips.line_code = departures.line_code
                and trips.direction = departures.direction
                and trips.leg = departures.leg
                and {{ is_meant(
                    'abs(' ~ seconds_between('departures.departure_at', 'trips.due_at') ~ ')',
                    'trips.bound_seconds',
                    'trips.way_seconds',
                    'departures.headway_seconds'
                ) }}
    ) as ranked
    where nth_departure = 1
),

placed as (
    select
        *,
        row_number() over (
            partition by operator, service_date, line_code, direction, leg, departure_at
            order by basis_score desc, off_seconds, due_at, trip_id
        ) as place
    from nearest
),

told as (
    select
        placed.operator,
        placed.service_date,
        placed.trip_id,
        placed.line_code,
        placed.direction,
        placed.leg,
        placed.origin_position,
        placed.departure_at,
        placed.place,
        placed.due_at,
        placed.basis,
        placed.basis_score * (1 - 0.5 * least(placed.off_seconds / placed.bound_seconds, 1)) as match_score,
        placed.ruleset_version
    from placed
    inner join departures
        on
            placed.operator = departures.operator
            and placed.service_date = departures.service_date
            and placed.line_code = departures.line_code
            and placed.direction = departures.direction
            and placed.leg = departures.leg
            and placed.departure_at = departures.departure_at
            and placed.place = departures.place
),

leads as (
    -- how long before its departure a bus is usually first seen live, by those whose departure is told
    select
        told.operator,
        told.service_date,
        {{ quantile('lead_seconds', 0.05) }} as shortest_seconds,
        {{ quantile('lead_seconds', 0.95) }} as longest_seconds,
        min(first_live_at) as first_poll_at
    from (
        select
            told.operator,
            told.service_date,
            told.trip_id,
            min(visits.first_live_at) as first_live_at,
            {{ seconds_between('min(visits.first_live_at)', 'min(told.departure_at)') }} as lead_seconds
        from told
        inner join visits
            on
                told.operator = visits.operator
                and told.service_date = visits.service_date
                and told.trip_id = visits.trip_id
        where
            visits.first_live_at is not null
            -- it was seen to turn live, be it that a row without an id gave way to it
            and (visits.last_theoretical_at <= visits.first_live_at or visits.theoretical_at = visits.replaced_at)
        group by told.operator, told.service_date, told.trip_id
    ) as told
    group by told.operator, told.service_date
    having count(*) >= 20
),

live_visits as (
    -- when the bus left its origin, or would have, as each stop tells; those nearest to it tell best, for a bus may
    -- keep a pace of its own
    select
        visits.*,
        coalesce({{ add_seconds('visits.passed_at', '-times.offset_seconds') }}, visits.left_at) as likely_left_at,
        row_number() over (
            partition by
                visits.operator, visits.service_date, visits.trip_id, visits.line_code, visits.direction, visits.leg
            order by visits.position, visits.visit_number, visits.stop_code
        ) as nth_stop
    from visits
    left join told
        on
            visits.operator = told.operator
            and visits.service_date = told.service_date
            and visits.trip_id = told.trip_id
    left join {{ ref('running_times') }} as times
        on
            visits.operator = times.operator
            and visits.service_date = times.service_date
            and visits.line_code = times.line_code
            and visits.direction = times.direction
            and visits.leg = times.leg
            and visits.position = times.position
            and times.service_hour is null
            and {{ is_built('times.service_date') }}
    where told.trip_id is null and visits.first_live_at is not null
),

live_trips as (
    -- when a trip nobody announced left its origin, or would have at the usual pace
    select
        operator,
        service_date,
        trip_id,
        line_code,
        direction,
        leg,
        origin_position,
        case
            -- it may have begun at any stop: its first known one is tried
            when origin_position is null then min(passed_at)
            else
                coalesce(
                    min(case when position = origin_position then passed_at end),
                    median(case when nth_stop <= 5 then likely_left_at end)
                )
        end as left_at,
        coalesce(min(pace_seconds), 0) as way_seconds,
        -- one visit may be another's
        coalesce(
            case when count(first_live_at) > 2 then {{ nth_smallest('first_live_at', 2) }} end, min(first_live_at)
        ) as first_live_at,
        max(passed_after) as last_live_at,
        rank() over (
            partition by operator, service_date, trip_id order by count(*) desc, line_code, direction
        ) as nth
    from live_visits
    group by operator, service_date, trip_id, line_code, direction, leg, origin_position
),

announced as (
    -- timetable rows without an id that seem to be about a departure, until when they were listed, and from when on
    -- they were not although they would have been
    select
        stand_ins.operator,
        stand_ins.service_date,
        stand_ins.line_code,
        stand_ins.direction,
        stand_ins.leg,
        stand_ins.departure_at,
        runs.last_theoretical_at,
        runs.withdrawn_at,
        max(runs.last_theoretical_at) over (
            partition by
                stand_ins.operator, stand_ins.service_date, stand_ins.line_code, stand_ins.direction, stand_ins.leg,
                stand_ins.departure_at
        ) as last_listed_at
    from {{ ref('stand_in_departures') }} as stand_ins
    inner join {{ ref('visit_runs') }} as runs
        on
            {{ is_same_visit('stand_ins', 'runs') }}
    where {{ is_built('stand_ins.service_date') }}
),

free_departures as (
    -- what no announced trip takes
    select
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        departures.departure_at,
        departures.leg,
        departures.place
    from departures
    left join told
        on
            departures.operator = told.operator
            and departures.service_date = told.service_date
            and departures.line_code = told.line_code
            and departures.direction = told.direction
            and departures.departure_at = told.departure_at
            and departures.leg = told.leg
            and departures.place = told.place
    where told.trip_id is null
),

near_pairs as (
    select
        trips.*,
        departures.departure_at,
        departures.place,
        rules.past_tolerance_seconds
    from live_trips as trips
    {{ join_rules('trips.service_date') }}
    inner join free_departures as departures
        on
            trips.operator = departures.operator
            and trips.service_date = departures.service_date
            and trips.line_code = departures.line_code
            and trips.direction = departures.direction
            and trips.leg = departures.leg
            and departures.departure_at
            between {{ add_seconds('trips.left_at', '-rules.match_late_seconds') }}
            -- first seen far along, it may have been faster on its way than is known
            and {{ add_seconds(
                'trips.left_at', '(rules.match_early_seconds + rules.match_pace_share * trips.way_seconds)'
            ) }}
    where trips.nth = 1
),

listings as (
    -- since when a departure was no longer listed anywhere, and at how many stops it still was while the bus was
    -- already on its way; what is listed later may be the bus's own, its tracking lost
    select
        pairs.operator,
        pairs.service_date,
        pairs.trip_id,
        pairs.leg,
        pairs.departure_at,
        min(case when announced.withdrawn_at > announced.last_listed_at then announced.withdrawn_at end)
            as withdrawn_at,
        count(*) as n_rows,
        count(
            case
                when
                    announced.last_theoretical_at
                    > {{ add_seconds('pairs.first_live_at', 'pairs.past_tolerance_seconds') }}
                    and coalesce(announced.last_theoretical_at <= pairs.last_live_at, true)
                    then 1
            end
        ) as n_beside
    from near_pairs as pairs
    inner join announced
        on
            pairs.operator = announced.operator
            and pairs.service_date = announced.service_date
            and pairs.line_code = announced.line_code
            and pairs.direction = announced.direction
            and pairs.departure_at = announced.departure_at
            and pairs.leg = announced.leg
    where pairs.place = 1
    group by pairs.operator, pairs.service_date, pairs.trip_id, pairs.leg, pairs.departure_at
),

handovers as (
    -- rows that gave way to a trip, by the departure they seem to be about, where they did not agree enough
    select
        visits.operator,
        visits.service_date,
        visits.trip_id,
        stand_ins.line_code,
        stand_ins.direction,
        stand_ins.leg,
        stand_ins.departure_at,
        count(*) as n_votes,
        sum(count(*)) over (partition by visits.operator, visits.service_date, visits.trip_id) as n_all_votes
    from visits
    inner join {{ ref('stand_in_departures') }} as stand_ins
        on
            visits.operator = stand_ins.operator
            and visits.service_date = stand_ins.service_date
            and visits.line_code = stand_ins.line_code
            and visits.direction = stand_ins.direction
            and visits.leg = stand_ins.leg
            and visits.position = stand_ins.position
            and visits.replaced_at = stand_ins.theoretical_at
            and {{ is_built('stand_ins.service_date') }}
    group by
        visits.operator, visits.service_date, visits.trip_id, stand_ins.line_code, stand_ins.direction,
        stand_ins.leg, stand_ins.departure_at
),

pairs as (
    select
        pairs.operator,
        pairs.service_date,
        pairs.trip_id,
        pairs.line_code,
        pairs.direction,
        pairs.left_at,
        pairs.origin_position,
        pairs.departure_at,
        pairs.leg,
        pairs.place,
        rules.ruleset_version,
        rules.match_live_seconds,
        rules.match_cost_seconds,
        rules.match_doubt_seconds,
        abs({{ seconds_between('pairs.departure_at', 'pairs.left_at') }} - rules.usual_delay_seconds)
        + case
            when listings.departure_at is null then rules.unannounced_seconds
            else coalesce(greatest({{ seconds_between('listings.withdrawn_at', 'pairs.first_live_at') }}, 0), 0)
        end
        -- rows of other departures gave way to it
        + rules.unannounced_seconds
        * greatest(coalesce(trip_votes.n_all_votes, 0) - 2 * coalesce(votes.n_votes, 0), 0)
        -- first seen live unusually long or short before: another departure
        + coalesce(
            greatest(
                rules.lead_weight
                * ({{ seconds_between('pairs.first_live_at', 'pairs.departure_at') }} - leads.longest_seconds),
                -- late it may be because nobody looked, and those on their way when collecting began had been live
                case
                    when
                        {{ seconds_between('leads.first_poll_at', 'pairs.first_live_at') }} > leads.longest_seconds
                        then
                            least(
                                rules.lead_weight * (
                                    leads.shortest_seconds
                                    - {{ seconds_between('pairs.first_live_at', 'pairs.departure_at') }}
                                ),
                                rules.unannounced_seconds
                            )
                end,
                0
            ),
            0
        ) as cost_seconds
    from near_pairs as pairs
    {{ join_rules('pairs.service_date') }}
    left join leads
        on
            pairs.operator = leads.operator
            and pairs.service_date = leads.service_date
    left join listings
        on
            pairs.operator = listings.operator
            and pairs.service_date = listings.service_date
            and pairs.trip_id = listings.trip_id
            and pairs.leg = listings.leg
            and pairs.departure_at = listings.departure_at
    left join handovers as votes
        on
            pairs.operator = votes.operator
            and pairs.service_date = votes.service_date
            and pairs.trip_id = votes.trip_id
            and pairs.line_code = votes.line_code
            and pairs.direction = votes.direction
            and pairs.leg = votes.leg
            and pairs.departure_at = votes.departure_at
    left join (
        select distinct
            operator,
            service_date,
            trip_id,
            n_all_votes
        from handovers
    ) as trip_votes
        on
            pairs.operator = trip_votes.operator
            and pairs.service_date = trip_votes.service_date
            and pairs.trip_id = trip_votes.trip_id
    where
        -- still announced without a bus, when the bus was already there: another departure; one row may be another's
        coalesce(listings.n_beside < 2 and listings.n_beside < listings.n_rows, true)
),

likely_pairs as (
    select *
    from pairs
    where cost_seconds <= match_cost_seconds
),
{% for round in range(1, 6) %}
    round_{{ round }} as (
    -- those that are each other's best of what the rounds before left
        select *
        from (
            select
                pairs.*,
                row_number() over (
                    partition by pairs.operator, pairs.service_date, pairs.trip_id
                    order by pairs.cost_seconds, pairs.departure_at, pairs.place
                ) as nth_for_trip,
                row_number() over (
                    partition by
                        pairs.operator, pairs.service_date, pairs.line_code, pairs.direction, pairs.departure_at,
                        pairs.leg, pairs.place
                    order by pairs.cost_seconds, pairs.left_at, pairs.trip_id
                ) as nth_for_departure
            from
                likely_pairs as pairs
            {%- for before in range(1, round) %}
            left join round_{{ before }} as trip_{{ before }}
                on
                    pairs.operator = trip_{{ before }}.operator
                    and pairs.service_date = trip_{{ before }}.service_date
                    and pairs.trip_id = trip_{{ before }}.trip_id
            left join round_{{ before }} as departure_{{ before }}
                on
                    pairs.operator = departure_{{ before }}.operator
                    and pairs.service_date = departure_{{ before }}.service_date
                    and pairs.line_code = departure_{{ before }}.line_code
                    and pairs.direction = departure_{{ before }}.direction
                    and pairs.departure_at = departure_{{ before }}.departure_at
                    and pairs.leg = departure_{{ before }}.leg
                    and pairs.place = departure_{{ before }}.place
            {%- endfor %}
            where
                true
                {%- for before in range(1, round) %}
                    and trip_{{ before }}.trip_id is null
                    and departure_{{ before }}.trip_id is null
                {%- endfor %}
        ) as ranked
        where nth_for_trip = 1 and nth_for_departure = 1
    ),
{% endfor %}
found as (
    {%- for round in range(1, 6) %}
        {{ 'union all' if not loop.first }}
        select * from round_{{ round }}
    {%- endfor %}
),

swaps as (
    -- two that would both be better off with each other's departure
    select *
    from (
        select
            first_trip.operator,
            first_trip.service_date,
            first_trip.trip_id,
            first_swapped.departure_at,
            first_swapped.place,
            first_swapped.cost_seconds,
            second_trip.trip_id as other_trip_id,
            row_number() over (
                partition by first_trip.operator, first_trip.service_date, first_trip.trip_id
                order by
                    first_trip.cost_seconds + second_trip.cost_seconds
                    - first_swapped.cost_seconds - second_swapped.cost_seconds desc,
                    second_trip.trip_id
            ) as nth
        from found as first_trip
        inner join found as second_trip
            on
                first_trip.operator = second_trip.operator
                and first_trip.service_date = second_trip.service_date
                and first_trip.line_code = second_trip.line_code
                and first_trip.direction = second_trip.direction
                and first_trip.leg = second_trip.leg
                and first_trip.trip_id != second_trip.trip_id
        inner join pairs as first_swapped
            on
                first_trip.operator = first_swapped.operator
                and first_trip.service_date = first_swapped.service_date
                and first_trip.trip_id = first_swapped.trip_id
                and second_trip.line_code = first_swapped.line_code
                and second_trip.direction = first_swapped.direction
                and second_trip.leg = first_swapped.leg
                and second_trip.departure_at = first_swapped.departure_at
                and second_trip.place = first_swapped.place
        inner join pairs as second_swapped
            on
                second_trip.operator = second_swapped.operator
                and second_trip.service_date = second_swapped.service_date
                and second_trip.trip_id = second_swapped.trip_id
                and first_trip.line_code = second_swapped.line_code
                and first_trip.direction = second_swapped.direction
                and first_trip.leg = second_swapped.leg
                and first_trip.departure_at = second_swapped.departure_at
                and first_trip.place = second_swapped.place
        where
            first_trip.cost_seconds + second_trip.cost_seconds
            > first_swapped.cost_seconds + second_swapped.cost_seconds
    ) as ranked
    where nth = 1
),

shared_out as (
    select
        found.operator,
        found.service_date,
        found.trip_id,
        found.line_code,
        found.direction,
        found.leg,
        found.origin_position,
        coalesce(swaps.departure_at, found.departure_at) as departure_at,
        coalesce(swaps.place, found.place) as place,
        found.left_at,
        coalesce(swaps.cost_seconds, found.cost_seconds) as cost_seconds,
        found.match_live_seconds,
        found.match_doubt_seconds,
        found.ruleset_version
    from found
    left join (
        select swaps.*
        from swaps
        inner join swaps as partners
            on
                swaps.operator = partners.operator
                and swaps.service_date = partners.service_date
                and swaps.trip_id = partners.other_trip_id
                and swaps.other_trip_id = partners.trip_id
    ) as swaps
        on
            found.operator = swaps.operator
            and found.service_date = swaps.service_date
            and found.trip_id = swaps.trip_id
),

doubts as (
    -- trips that may as well run as another departure: one that is left, or that of a trip that may as well run as
    -- theirs
    select distinct
        trips.operator,
        trips.service_date,
        trips.trip_id
    from shared_out as trips
    inner join pairs as others
        on
            trips.operator = others.operator
            and trips.service_date = others.service_date
            and trips.trip_id = others.trip_id
            and (trips.departure_at != others.departure_at or trips.leg != others.leg)
    left join shared_out as rivals
        on
            others.operator = rivals.operator
            and others.service_date = rivals.service_date
            and others.line_code = rivals.line_code
            and others.direction = rivals.direction
            and others.leg = rivals.leg
            and others.departure_at = rivals.departure_at
            and others.place = rivals.place
    left join pairs as swapped
        on
            rivals.operator = swapped.operator
            and rivals.service_date = swapped.service_date
            and rivals.trip_id = swapped.trip_id
            and trips.line_code = swapped.line_code
            and trips.direction = swapped.direction
            and trips.leg = swapped.leg
            and trips.departure_at = swapped.departure_at
            and trips.place = swapped.place
    where
        others.cost_seconds - trips.cost_seconds
        + case when rivals.trip_id is null then 0 else swapped.cost_seconds - rivals.cost_seconds end
        < trips.match_doubt_seconds
),

matched as (
    select * from told
    union all
    select
        operator,
        service_date,
        trip_id,
        line_code,
        direction,
        leg,
        origin_position,
        departure_at,
        place,
        left_at as due_at,
        'live' as basis,
        0.6 / (1 + cost_seconds / match_live_seconds) as match_score,
        ruleset_version
    from shared_out
    where
        not exists (
            select 1
            from doubts
            where
                shared_out.operator = doubts.operator
                and shared_out.service_date = doubts.service_date
                and shared_out.trip_id = doubts.trip_id
        )
),

run as (
    select * from matched
    union all
    select
        stand_ins.operator,
        stand_ins.service_date,
        {{ stand_in_trip('stand_ins') }} as trip_id,
        stand_ins.line_code,
        stand_ins.direction,
        stand_ins.leg,
        null as origin_position,
        stand_ins.departure_at,
        1 as place,
        stand_ins.departure_at as due_at,
        'stand_in' as basis,
        0.5 as match_score,
        max(rules.ruleset_version) as ruleset_version
    from {{ ref('stand_in_departures') }} as stand_ins
    {{ join_rules('stand_ins.service_date') }}
    left join matched
        on
            stand_ins.operator = matched.operator
            and stand_ins.service_date = matched.service_date
            and stand_ins.line_code = matched.line_code
            and stand_ins.direction = matched.direction
            and stand_ins.leg = matched.leg
            and stand_ins.departure_at = matched.departure_at
    where matched.trip_id is null and {{ is_built('stand_ins.service_date') }}
    group by
        stand_ins.operator, stand_ins.service_date, stand_ins.line_code, stand_ins.direction, stand_ins.leg,
        stand_ins.departure_at
)

select
    matched.operator,
    matched.service_date,
    matched.trip_id,
    matched.line_code,
    matched.direction,
    matched.leg,
    matched.origin_position,
    departures.service_code,
    departures.departure_at,
    departures.duplicate_number,
    departures.valid_from as departure_valid_from,
    matched.due_at,
    matched.basis,
    matched.match_score,
    matched.ruleset_version
from run as matched
inner join departures
    on
        matched.operator = departures.operator
        and matched.service_date = departures.service_date
        and matched.line_code = departures.line_code
        and matched.direction = departures.direction
        and matched.departure_at = departures.departure_at
        and matched.leg = departures.leg
        and matched.place = departures.place
