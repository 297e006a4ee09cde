{{ config(materialized='ephemeral') }}
-- One row per departure that a trip only seen live may have run as: how probable it is that the match is wrong, how much
-- later its bus was then than by the match, and the standard error of the delay that comes of it.
-- By the draws, in which other matches are as often as they are probable. A departure without a bus is taken for one with
-- the usual delay. A bus that is taken for the next departure often moves the buses behind it, too: what the errors of
-- the departures of a line have in common is counted apart.
with drawn as (
    select
        matches.*,
        max(case when draw = 0 then trip_key end) over departure as matched_trip_key,
        coalesce(max(case when draw = 0 then above_seconds end) over departure, 0) as matched_seconds
    from {{ built('drawn_matches') }} as matches
    window departure as (partition by departure_key)
),

sums as (
    -- over all draws, by how much it was later than by the match
    select
        drawn.departure_key,
        drawn.operator,
        drawn.service_date,
        drawn.line_code,
        drawn.direction,
        cast(max(parameters.match_draws) as double) as n_draws,
        case
            when max(drawn.matched_trip_key) is null then count(*)
            else
                max(parameters.match_draws)
                - count(case when drawn.draw > 0 and drawn.trip_key = drawn.matched_trip_key then 1 end)
        end as n_wrong,
        sum(case when drawn.draw > 0 then drawn.above_seconds - drawn.matched_seconds else 0 end)
        - max(drawn.matched_seconds) * (max(parameters.match_draws) - count(case when drawn.draw > 0 then 1 end))
            as later_sum,
        sum(case when drawn.draw > 0 then power(drawn.above_seconds - drawn.matched_seconds, 2) else 0 end)
        + power(max(drawn.matched_seconds), 2)
        * (max(parameters.match_draws) - count(case when drawn.draw > 0 then 1 end)) as square_sum
    from drawn
    cross join {{ ref('inference_parameters') }} as parameters
    group by drawn.departure_key, drawn.operator, drawn.service_date, drawn.line_code, drawn.direction
),

departures as (
    select
        *,
        cast(sqrt(greatest(square_sum / n_draws - power(later_sum / n_draws, 2), 0)) as decimal(9, 1)) as error_seconds
    from sums
),

line_draws as (
    select
        operator,
        service_date,
        line_code,
        direction,
        draw,
        sum(above_seconds) as sum_seconds
    from drawn
    where draw > 0
    group by operator, service_date, line_code, direction, draw
),

lines as (
    -- the part of the errors of a line that is common to all its departures
    select
        departures.operator,
        departures.service_date,
        departures.line_code,
        departures.direction,
        least(greatest(coalesce(
            (max(draws.line_variance) - sum(departures.error_seconds * departures.error_seconds))
            / nullif(
                power(sum(departures.error_seconds), 2) - sum(departures.error_seconds * departures.error_seconds), 0
            ),
            0
        ), 0), 1) as common_share
    from departures
    inner join (
        select
            line_draws.operator,
            line_draws.service_date,
            line_draws.line_code,
            line_draws.direction,
            sum(power(line_draws.sum_seconds, 2)) / max(parameters.match_draws)
            - power(cast(sum(line_draws.sum_seconds) as double) / max(parameters.match_draws), 2) as line_variance
        from line_draws
        cross join {{ ref('inference_parameters') }} as parameters
        group by line_draws.operator, line_draws.service_date, line_draws.line_code, line_draws.direction
    ) as draws using (operator, service_date, line_code, direction)
    group by departures.operator, departures.service_date, departures.line_code, departures.direction
)

select
    departures.departure_key,
    departures.n_wrong / departures.n_draws as wrong_share,
    cast(round(coalesce(departures.later_sum / nullif(departures.n_wrong, 0), 0)) as bigint) as wrong_shift_seconds,
    sqrt(greatest(coalesce(
        departures.square_sum / nullif(departures.n_wrong, 0) - power(departures.later_sum / nullif(departures.n_wrong, 0), 2),
        0
    ), 0)) as wrong_spread_seconds,
    cast(departures.error_seconds as double) as match_error_seconds,
    departures.error_seconds * sqrt(lines.common_share) as match_line_error_seconds
from departures
inner join lines using (operator, service_date, line_code, direction)
