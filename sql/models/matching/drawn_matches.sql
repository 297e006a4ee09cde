-- One row per operator, service_date, draw and trip without a match by timetable times: the free departure that it
-- gets. Of each line and direction, trips and departures are matched one to one (transit_estimates/matching.py): draw 0
-- is the most probable match, and the others are drawn as often as they are probable. A match is less probable the more
-- unusual its delay is, the more unusual the time is at which the bus was first live, and the longer the departure was
-- not listed any more by then. How late buses of the line usually are is drawn too, because those that timetable times
-- tell of are earlier than others.
{%- set line_day = "operator, service_date, line_code, direction" %}
with pairs as (
    select * from {{ built('possible_departures') }}
),

visits as (
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
            operator,
            service_date,
            min(visits.first_live_at) as first_live_at,
            {{ seconds_between('min(visits.first_live_at)', 'min(pairs.departure_at)') }} as lead_seconds
        from pairs
        inner join visits using (operator, service_date, trip_key)
        where
            pairs.basis != 'live'
            and visits.first_live_at is not null
            -- it was listed before it was live, by its own timetable row or by an anonymous one that it replaced
            and (visits.last_theoretical_at <= visits.first_live_at or visits.theoretical_at = visits.replaced_at)
        group by operator, service_date, trip_key
    ) as trips
    group by operator, service_date
    having count(*) >= 20
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
    inner join {{ built('anonymous_departures') }} as listed using (departure_key)
    where pairs.basis = 'live' and pairs.slot_number = 1
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
),

costs as (
    select
        pairs.*,
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
            -- short before it may be because no stop was polled earlier, and buses under way when collecting began had
            -- been live for an unknown time
            case
                when
                    {{ seconds_between('lead_times.first_poll_at', 'pairs.first_live_at') }}
                    > lead_times.longest_seconds
                    then least(
                        parameters.lead_weight * (
                            lead_times.shortest_seconds
                            - {{ seconds_between('pairs.first_live_at', 'pairs.departure_at') }}
                        ),
                        parameters.unannounced_cost_seconds
                    )
            end,
            0
        ) as listing_cost_seconds,
        row_number() over (partition by {{ line_day }} order by pairs.trip_key, pairs.departure_key) as pair_number,
        dense_rank() over (partition by {{ line_day }} order by pairs.trip_key) as trip_number,
        dense_rank() over (partition by {{ line_day }} order by pairs.departure_key) as departure_number
    from pairs
    cross join {{ ref('inference_parameters') }} as parameters
    left join lead_times using (operator, service_date)
    left join announcements using (trip_key, leg, departure_at)
    left join votes using (trip_key, leg, departure_at)
    left join trip_votes using (trip_key)
    where
        pairs.basis = 'live'
        -- a departure still listed without a bus when the bus was there is another's; a single row may be an error
        and coalesce(announcements.n_still_listed < 2 and announcements.n_still_listed < announcements.n_rows, true)
),

chosen as (
    select
        {{ line_day }},
        {{ each_of('drawn') }} as chosen
    from (
        select
            {{ line_day }},
            {{ drawn_pairs(
                "trip_number", "departure_number", "above_seconds", "listing_cost_seconds / unannounced_cost_seconds",
                "pair_number", "max(spread_seconds)", "max(match_unpaired_cost)", "max(match_draws)",
                "concat_ws('/', operator, cast(service_date as string), line_code, direction)"
            ) }} as drawn
        from costs
        cross join {{ ref('inference_parameters') }}
        group by {{ line_day }}
    ) as assignments
)

select
    costs.* {{ exclude(
        "slot_number, first_live_at, last_live_at, n_replaced_rows, match_score, listing_cost_seconds",
        "spread_seconds, pair_number, trip_number, departure_number"
    ) }},
    chosen.chosen.draw
from costs
inner join chosen using ({{ line_day }})
where costs.pair_number = chosen.chosen.pair
