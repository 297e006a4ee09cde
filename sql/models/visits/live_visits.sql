{{ config(materialized='ephemeral') }}
-- One row per visit that a stop listed live around the service dates being built: its first, its last and its last
-- trustworthy listing.
with listings as (
    select * from {{ ref('listings') }}
),

live_listings as (
    -- a prediction that suddenly grew, or lies in the past, does not prove that the bus is still to come
    select
        moves.*,
        moves.predicted_at >= {{ add_seconds('moves.polled_at', '-parameters.past_tolerance_seconds') }}
        and coalesce(moves.jump_seconds <= parameters.upward_jump_seconds, true) as is_ahead
    from (
        select
            *,
            {{ seconds_between('lag(predicted_at) over visit', 'predicted_at') }}
            - {{ seconds_between('lag(polled_at) over visit', 'polled_at') }} as jump_seconds
        from {{ ref('visit_listings') }}
        where not is_theoretical
        window visit as (partition by series_number, group_number order by listing_number)
    ) as moves
    cross join {{ ref('inference_parameters') }} as parameters
),

sums as (
    select
        series_number,
        group_number,
        max(case when is_ahead then listing_number end) as ahead_listing_number,
        -- the last listing that proves the bus was still to come, or just the last
        coalesce(max(case when is_ahead then listing_number end), max(listing_number)) as listing_number,
        min(poll_number) as first_poll_number,
        {{ value_at_least('predicted_at', 'listing_number') }} as first_predicted_at,
        min(polled_at) as first_seen_at,
        max(polled_at) as last_seen_at,
        count(*) as n_polls,
        count(case when is_full then 1 end) as n_full_polls
    from live_listings
    group by series_number, group_number
),

later_listings as (
    -- still listed, although no longer as one that is certainly still ahead
    select
        sums.series_number,
        sums.group_number,
        {{ list_of_distinct('later.polled_at') }} as still_listed_at
    from sums
    inner join live_listings as later
        on
            sums.series_number = later.series_number
            and sums.group_number = later.group_number
            and sums.ahead_listing_number < later.listing_number
    group by sums.series_number, sums.group_number
)

select
    last_listing.series_number,
    last_listing.group_number,
    last_listing.service_date,
    last_listing.predicted_at,
    listings.operator,
    listings.listed_id,
    listings.stop_code,
    listings.line_label,
    listings.plain_label,
    listings.is_slash_variant,
    listings.destination,
    listings.service_hour,
    case when last_listing.is_ahead then last_listing.polled_at end as passed_after,
    case when last_listing.is_ahead then last_listing.poll_number end as last_ahead_number,
    later_listings.still_listed_at,
    sums.first_poll_number,
    sums.first_predicted_at,
    sums.first_seen_at,
    sums.last_seen_at,
    sums.n_polls,
    sums.n_full_polls
from sums
inner join live_listings as last_listing using (series_number, group_number, listing_number)
inner join listings using (listing_number)
left join later_listings using (series_number, group_number)
