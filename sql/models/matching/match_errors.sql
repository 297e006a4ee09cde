{{ config(materialized=inlined()) }}
-- One row per departure that a trip only seen live may have run as: how probable it is that the match is wrong, how
-- much later its bus was then than by the match, also as ten values that are as probable, and the standard error of the
-- delay that comes of it. A departure without a bus is taken for one with the usual delay.
with sums as (
    -- of the other buses, and of none, which is earlier by what the matched one is later
    select
        departure_key,
        max(case when is_match then 1 else 0 end) as n_matches,
        coalesce(max(case when is_match then above_seconds end), 0) as matched_seconds,
        coalesce(max(case when is_match then probability end), 0) as right_share,
        cast(sum({{ as_decimal("wrong_probability * above_seconds", 18, 6) }}) as double) as above_sum,
        cast(sum({{ as_decimal("wrong_probability * power(above_seconds, 2)", 18, 6) }}) as double) as square_sum,
        cast(sum({{ as_decimal("wrong_probability", 7, 6) }}) as double) as wrong_pair_share,
        max(common_seconds) as common_seconds
    from (
        select
            *,
            case when is_match then 0 else probability end as wrong_probability
        from {{ built('match_probabilities') }}
    ) as pairs
    group by departure_key
),

shares as (
    select
        *,
        case when n_matches = 1 then 1 - right_share else wrong_pair_share end as wrong_share,
        above_sum - matched_seconds * (1 - right_share) as later_sum,
        square_sum - 2 * matched_seconds * above_sum + power(matched_seconds, 2) * (1 - right_share) as later_square_sum
    from sums
),

departures as (
    select
        *,
        later_sum / nullif(wrong_share, 0) as shift_seconds,
        sqrt(greatest(later_square_sum - power(later_sum, 2), 0)) as error_seconds
    from shares
),

wrong_pairs as (
    select
        departure_key,
        trip_key,
        above_seconds,
        probability
    from {{ built('match_probabilities') }}
    where not is_match
    union all
    select
        departure_key,
        null as trip_key,
        0 as above_seconds,
        wrong_share - wrong_pair_share as probability
    from departures
    where n_matches = 1
),

wrong_up_to as (
    select
        *,
        sum({{ as_decimal("probability", 7, 6) }}) over (
            partition by departure_key order by above_seconds, trip_key
            rows between unbounded preceding and current row
        ) as share_up_to
    from wrong_pairs
),

tenths as (
    -- of the probability that the match is wrong, from the earliest bus to the latest
    select
        departures.departure_key,
        tenths.tenth,
        min(wrong_up_to.above_seconds) - max(departures.matched_seconds) as later_seconds
    from departures
    cross join range(0, 10) as tenths (tenth)
    inner join wrong_up_to
        on
            departures.departure_key = wrong_up_to.departure_key
            and wrong_up_to.share_up_to >= (tenths.tenth + 0.5) / 10 * departures.wrong_share - 0.000001
    group by departures.departure_key, tenths.tenth
)

select
    departure_key,
    max(wrong_share) as wrong_share,
    cast(round(coalesce(max(shift_seconds), 0)) as bigint) as wrong_shift_seconds,
    {{ list_in_order("tenths.later_seconds", "tenths.tenth") }} as wrong_seconds,
    max(error_seconds) as match_error_seconds,
    least(max(common_seconds), max(error_seconds)) as match_line_error_seconds
from departures
inner join tenths using (departure_key)
group by departure_key
