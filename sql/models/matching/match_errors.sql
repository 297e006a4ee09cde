{{ config(materialized=inlined()) }}
{%- set line_day = "operator, service_date, line_code, direction" %}
-- One row per departure that a trip only seen live may have run as: how probable it is that the match is wrong, how
-- much later its bus was then than by the match, and the standard error of the delay that comes of it.
-- By the draws, in which other matches are as often as they are probable. A departure without a bus is taken for one
-- with the usual delay. A bus that is taken for the next departure often moves the buses behind it, too: what the
-- errors of the departures of a line have in common is counted apart.
with drawn as (
    select
        matches.*,
        max(case when draw = 0 then trip_key end) over departure as matched_trip_key,
        coalesce(max(case when draw = 0 then above_seconds end) over departure, 0) as matched_seconds
    from {{ built('drawn_matches') }} as matches
    window departure as (partition by departure_key)
),

counted as (
    select
        departure_key,
        {{ line_day }},
        matched_trip_key,
        matched_seconds,
        count(case when draw > 0 then 1 end) as n_drawn,
        count(case when draw > 0 and trip_key = matched_trip_key then 1 end) as n_right,
        sum(case when draw > 0 then above_seconds - matched_seconds else 0 end) as later_sum,
        sum(case when draw > 0 then power(above_seconds - matched_seconds, 2) else 0 end) as square_sum
    from drawn
    group by departure_key, {{ line_day }}, matched_trip_key, matched_seconds
),

sums as (
    -- over all draws; in those in which it has no bus it is earlier by what it is later by the match
    select
        departure_key,
        {{ line_day }},
        cast(match_draws as double) as n_draws,
        case when matched_trip_key is null then n_drawn else match_draws - n_right end as n_wrong,
        later_sum - matched_seconds * (match_draws - n_drawn) as later_sum,
        square_sum + power(matched_seconds, 2) * (match_draws - n_drawn) as square_sum
    from counted
    cross join {{ ref('inference_parameters') }}
),

departures as (
    select
        *,
        later_sum / nullif(n_wrong, 0) as shift_seconds,
        {{ as_decimal("sqrt(greatest(square_sum / n_draws - power(later_sum / n_draws, 2), 0))", 9, 1) }}
            as error_seconds
    from sums
),

line_draws as (
    select
        {{ line_day }},
        draw,
        sum(above_seconds) as above_sum
    from drawn
    where draw > 0
    group by {{ line_day }}, draw
),

line_variances as (
    select
        {{ line_day }},
        sum(power(above_sum, 2)) / max(match_draws) - power(cast(sum(above_sum) as double) / max(match_draws), 2)
            as line_variance
    from line_draws
    cross join {{ ref('inference_parameters') }}
    group by {{ line_day }}
),

lines as (
    -- the part of the errors of a line that is common to all its departures
    select
        {{ line_day }},
        least(greatest(coalesce(
            (max(line_variance) - sum(error_seconds * error_seconds))
            / nullif(power(sum(error_seconds), 2) - sum(error_seconds * error_seconds), 0),
            0
        ), 0), 1) as common_share
    from departures
    inner join line_variances using ({{ line_day }})
    group by {{ line_day }}
)

select
    departure_key,
    n_wrong / n_draws as wrong_share,
    cast(round(coalesce(shift_seconds, 0)) as bigint) as wrong_shift_seconds,
    sqrt(greatest(coalesce(square_sum / nullif(n_wrong, 0) - power(shift_seconds, 2), 0), 0)) as wrong_spread_seconds,
    cast(error_seconds as double) as match_error_seconds,
    error_seconds * sqrt(common_share) as match_line_error_seconds
from departures
inner join lines using ({{ line_day }})
