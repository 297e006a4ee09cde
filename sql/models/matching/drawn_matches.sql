-- One row per operator, service_date, draw and trip without a match by timetable times: the free departure that it gets.
-- Of each line and direction, trips and departures are matched one to one so that the sum of costs is least. The cost
-- grows with how unusual the delay is: with its square at first, so that of two buses and two departures the earlier bus
-- gets the earlier departure.
-- Draw 0 is the match. In the others costs are changed at random, so that the share of draws with a match is about its
-- probability, if a cost divided by spread_seconds is the negative logarithm of a likelihood (the method is known as
-- perturb and MAP). How late buses of
-- the line usually are is drawn too, because those that timetable times tell of are earlier than others.
with pairs as (
    select
        *,
        row_number() over (line_day order by trip_key, departure_key) as pair_number,
        dense_rank() over (line_day order by trip_key) as trip_number,
        dense_rank() over (line_day order by departure_key) as departure_number
    from {{ built('live_match_costs') }}
    window line_day as (partition by operator, service_date, line_code, direction)
),

drawn as (
    select
        pairs.*,
        numbers.number - 1 as draw,
        case
            when numbers.number = 1 then 0
            else pairs.spread_seconds * {{ gumbel_draw("pairs.trip_key, pairs.departure_key, numbers.number") }}
        end as change_seconds,
        abs(
            pairs.above_seconds
            - case
                when numbers.number = 1 then 0
                else
                    pairs.spread_seconds / 2
                    * {{ normal_draw("pairs.service_date, pairs.line_code, pairs.direction, numbers.number") }}
            end
        ) as off_seconds,
        parameters.match_max_cost_seconds
    from pairs
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ numbers(100) }} as numbers on numbers.number <= parameters.match_draws + 1
),

chosen as (
    select
        operator,
        service_date,
        line_code,
        direction,
        draw,
        {{ each_of('pair_numbers') }} as pair_number
    from (
        select
            operator,
            service_date,
            line_code,
            direction,
            draw,
            {{ least_cost_pairs(
                "trip_number",
                "departure_number",
                "listing_cost_seconds - change_seconds + case when off_seconds <= spread_seconds "
                ~ "then power(off_seconds, 2) / (2 * spread_seconds) "
                ~ "else off_seconds - spread_seconds / 2 end",
                "pair_number",
                "max(match_max_cost_seconds)"
            ) }} as pair_numbers
        from drawn
        group by operator, service_date, line_code, direction, draw
    ) as assignments
)

select
    pairs.* exclude (pair_number, trip_number, departure_number),
    chosen.draw
from pairs
inner join chosen using (operator, service_date, line_code, direction, pair_number)
