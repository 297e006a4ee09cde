-- One row per operator, service_date, trip whose timetable times tell no departure, leg and departure left it may have
-- run as: how badly they fit. The later a bus is, the more unusual the time it was first seen live at, and the longer
-- its departure had not been listed by then, the worse.
with visits as (
    select * from {{ leg_visits() }} as leg_visits
),

told as (
    select *
    from {{ ref('told_departures') }}
    where {{ is_built() }}
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
        {{ live_since() }} as first_live_at,
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
    from {{ numbered_departures() }} as departures
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
)

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
