-- One row per operator, service_date, trip without a match by timetable times, leg and free departure it may have run
-- as: how much later it left than buses usually do, and how badly they fit otherwise, as a cost in seconds. That grows
-- with how unusual the time is at which the bus was first live, and with how long the departure was not listed any more
-- by then.
with visits as (
    select * from {{ built('leg_visits') }}
    where not is_anonymous
),

lead_times as (
    -- how long before its departure a bus usually is first live, by those matched by their timetable times
    select
        operator,
        service_date,
        {{ quantile('lead_seconds', 0.05) }} as shortest_seconds,
        {{ quantile('lead_seconds', 0.95) }} as longest_seconds,
        min(first_live_at) as first_poll_at
    from (
        select
            matches.operator,
            matches.service_date,
            matches.trip_key,
            min(visits.first_live_at) as first_live_at,
            {{ seconds_between('min(visits.first_live_at)', 'min(matches.departure_at)') }} as lead_seconds
        from {{ built('timetable_matches') }} as matches
        inner join visits using (trip_key)
        where
            visits.first_live_at is not null
            -- it was listed before it was live, by its own timetable row or by an anonymous one that it replaced
            and (visits.last_theoretical_at <= visits.first_live_at or visits.theoretical_at = visits.replaced_at)
        group by matches.operator, matches.service_date, matches.trip_key
    ) as trips
    group by operator, service_date
    having count(*) >= 20
),

pairs as (
    select
        trips.*,
        departures.departure_key,
        departures.departure_at,
        departures.slot_number,
        -- how much later it left than buses usually do
        cast(round(
            {{ seconds_between('departures.departure_at', 'trips.left_at') }} - trips.usual_delay_seconds
        ) as bigint) as above_seconds
    from {{ ref('live_trips') }} as trips
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ built('timetable_departures') }} as departures
        using (operator, service_date, line_code, direction, leg)
    left join {{ built('timetable_matches') }} as taken using (departure_key)
    where
        taken.departure_key is null
        -- of the buses under way when collecting began, some ran as departures before it, and nobody knows which
        and departures.departure_at > {{ add_seconds('trips.collected_since', '-parameters.match_early_seconds') }}
        and departures.is_in_force
        and {{ seconds_between('departures.departure_at', 'trips.left_at') }}
        -- first seen far along its way, it may have been faster up to there than is known
        between -(parameters.match_early_seconds + parameters.match_travel_share * trips.from_origin_seconds)
        and parameters.match_late_seconds
),

anonymous_rows as (
    -- until when the anonymous rows about a departure were listed, and since when they were not although they would
    -- have been
    select
        departures.departure_key,
        rows_listed.last_theoretical_at,
        rows_listed.withdrawn_at,
        max(rows_listed.last_theoretical_at) over (partition by departures.departure_key) as last_listed_at
    from {{ built('anonymous_departures') }} as departures
    inner join {{ built('passing_times') }} as rows_listed using (listed_visit_key)
),

announcements as (
    -- since when a departure was not listed any more, and how many stops still listed it while the bus was live on its
    -- way; what is listed after that may be the bus itself, its tracking lost
    select
        pairs.trip_key,
        pairs.leg,
        pairs.departure_at,
        min(case when listed.withdrawn_at > listed.last_listed_at then listed.withdrawn_at end) as withdrawn_at,
        count(*) as n_rows,
        count(
            case
                when
                    listed.last_theoretical_at
                    > {{ add_seconds('pairs.first_live_at', 'parameters.past_tolerance_seconds') }}
                    and coalesce(listed.last_theoretical_at <= pairs.last_live_at, true)
                    then 1
            end
        ) as n_still_listed
    from pairs
    cross join {{ ref('inference_parameters') }} as parameters
    inner join anonymous_rows as listed using (departure_key)
    where pairs.slot_number = 1
    group by pairs.trip_key, pairs.leg, pairs.departure_at
),

votes as (
    -- the departures that the anonymous rows replaced by a trip were about
    select
        visits.trip_key,
        leg,
        departures.departure_at,
        count(*) as n_votes
    from visits
    inner join {{ built('anonymous_departures') }} as departures
        using (operator, service_date, line_code, direction, leg, position)
    where visits.replaced_at = departures.theoretical_at
    group by visits.trip_key, leg, departures.departure_at
),

trip_votes as (
    select
        trip_key,
        sum(n_votes) as n_all_votes
    from votes
    group by trip_key
)

select
    pairs.trip_key,
    pairs.departure_key,
    pairs.operator,
    pairs.service_date,
    pairs.trip_id,
    pairs.line_code,
    pairs.direction,
    pairs.left_at,
    pairs.origin_position,
    pairs.departure_at,
    pairs.leg,
    pairs.above_seconds,
    pairs.spread_seconds,
    case
        when announcements.departure_at is null then parameters.unannounced_cost_seconds
        -- a bus may be seen long after its row was taken off the lists
        else least(
            greatest({{ seconds_between('announcements.withdrawn_at', 'pairs.first_live_at') }}, 0),
            parameters.unannounced_cost_seconds
        )
    end
    -- it replaced rows about other departures
    + parameters.unannounced_cost_seconds
    * greatest(coalesce(trip_votes.n_all_votes, 0) - 2 * coalesce(votes.n_votes, 0), 0)
    -- first live unusually long or short before
    + greatest(
        parameters.lead_weight
        * ({{ seconds_between('pairs.first_live_at', 'pairs.departure_at') }} - lead_times.longest_seconds),
        -- short before it may be because no stop was polled earlier, and buses under way when collecting began had been
        -- live for an unknown time
        case
            when {{ seconds_between('lead_times.first_poll_at', 'pairs.first_live_at') }} > lead_times.longest_seconds
                then least(
                    parameters.lead_weight * (
                        lead_times.shortest_seconds
                        - {{ seconds_between('pairs.first_live_at', 'pairs.departure_at') }}
                    ),
                    parameters.unannounced_cost_seconds
                )
        end,
        0
    ) as listing_cost_seconds
from pairs
cross join {{ ref('inference_parameters') }} as parameters
left join lead_times using (operator, service_date)
left join announcements using (trip_key, leg, departure_at)
left join votes using (trip_key, leg, departure_at)
left join trip_votes using (trip_key)
where
    -- a departure still listed without a bus when the bus was there is another's; a single row may be an error
    coalesce(announcements.n_still_listed < 2 and announcements.n_still_listed < announcements.n_rows, true)
