-- One row per operator, service_date, draw and trip without a match by timetable times: the free departure that it
-- gets. Of each line and direction, trips and departures are matched one to one (transit_estimates/matching.py): draw 0
-- is the most probable match, and the others are drawn as often as they are probable. A match is less probable the more
-- unusual its delay is, and the more unusual the time is at which the bus was first live.
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
        percentile(lead_seconds, 0.05) as shortest_seconds,
        percentile(lead_seconds, 0.95) as longest_seconds,
        min(first_live_at) as first_poll_at
    from (
        select
            operator,
            service_date,
            min(visits.first_live_at) as first_live_at,
            seconds_between(min(visits.first_live_at), min(pairs.departure_at)) as lead_seconds
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

still_listed as (
    -- a departure that two stops list without a bus while the bus is live on its way is another's; a single row may be
    -- an error, and what is listed after that may be the bus itself, its tracking lost
    select
        pairs.trip_key,
        pairs.departure_key
    from pairs
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ built('anonymous_departures') }} as listed using (departure_key)
    where pairs.basis = 'live'
    group by pairs.trip_key, pairs.departure_key
    having
        count(
            case
                when
                    listed.last_theoretical_at
                    > add_seconds(pairs.first_live_at, parameters.past_tolerance_seconds)
                    and coalesce(listed.last_theoretical_at <= pairs.last_live_at, true)
                    then 1
            end
        ) >= least(2, count(*))
),

costs as (
    select
        pairs.*,
        -- first live unusually long before, or unusually short: that may be because no stop was polled earlier, and
        -- buses under way when collecting began had been live for an unknown time
        greatest(
            (seconds_between(pairs.first_live_at, pairs.departure_at) - lead_times.longest_seconds)
            / parameters.lead_cost_seconds,
            case
                when
                    seconds_between(lead_times.first_poll_at, pairs.first_live_at)
                    > lead_times.longest_seconds
                    then least(
                        (
                            lead_times.shortest_seconds
                            - seconds_between(pairs.first_live_at, pairs.departure_at)
                        ) / parameters.lead_cost_seconds,
                        1
                    )
            end,
            0
        ) as cost,
        row_number() over (partition by {{ line_day }} order by pairs.trip_key, pairs.departure_key) as pair_number,
        dense_rank() over (partition by {{ line_day }} order by pairs.trip_key) as trip_number,
        dense_rank() over (partition by {{ line_day }} order by pairs.departure_key) as departure_number
    from pairs
    cross join {{ ref('inference_parameters') }} as parameters
    left join lead_times using (operator, service_date)
    left join still_listed using (trip_key, departure_key)
    where pairs.basis = 'live' and still_listed.trip_key is null
),

chosen as (
    select
        {{ line_day }},
        {{ each_of('drawn') }} as chosen
    from (
        select
            {{ line_day }},
            {{ drawn_pairs(
                "trip_number", "departure_number", "above_seconds", "cost",
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
        "first_live_at, last_live_at, n_replaced_rows, match_score, cost, spread_seconds, pair_number, trip_number",
        "departure_number"
    ) }},
    chosen.chosen.draw
from costs
inner join chosen using ({{ line_day }})
where costs.pair_number = chosen.chosen.pair
