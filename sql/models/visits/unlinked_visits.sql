{{ config(materialized=inlined()) }}
-- One row per visit that a stop listed live, or as a timetable row, around the service dates being built: its first,
-- its last and its last trustworthy listing.
-- A series is what a stop lists under one id and destination; predictions of a series that lie close together are about
-- one visit. Live listings and timetable rows are grouped apart; listed_visits links the two.
-- Ephemeral, because it is made of millions of listings a day.
with looped_stops as (
    -- where a line of that number serves the stop twice or is circular: how far apart two predictions of one trip are
    -- that are about two visits. They may lie close together there, and a bus late by more than half the loop is the
    -- one that comes again
    select
        operator,
        service_date,
        stop_code,
        {{ plain_label_of('line_number') }} as plain_label,
        min(
            case
                when n_occurrences > 1 then upward_jump_seconds
                else greatest(upward_jump_seconds, least(live_gap_seconds, last_position * usual_step_seconds / 2))
            end
        ) as gap_seconds,
        min(
            case when n_steps is not null then greatest(live_gap_seconds, n_steps * usual_step_seconds / 2) end
        ) as half_loop_seconds
    from (
        select
            *,
            position - lag(position) over (
                partition by operator, service_date, line_code, direction, stop_code order by position
            ) as n_steps
        from {{ ref('line_stops_of_day') }}
        where {{ is_received_around('service_date', 2, 2) }} and (n_occurrences > 1 or is_circular)
    ) as stops
    cross join {{ ref('inference_parameters') }}
    inner join {{ ref('lines') }} using (operator, line_code)
    group by operator, service_date, stop_code, plain_label
),

series as (
    -- a vehicle that comes back in the other direction shows another destination; numbered because millions of rows are
    -- sorted by series below, and sorting by text is slow
    select
        operator,
        listed_id,
        stop_code,
        destination_text,
        row_number() over (order by operator, listed_id, stop_code, destination_text) as series_number
    from {{ ref('listings') }}
    where listed_id is not null
    group by operator, listed_id, stop_code, destination_text
),

clusters as (
    -- only numbers and instants from here on, for the same reason
    select
        *,
        sum(is_apart) over (
            partition by series_number, is_theoretical
            order by predicted_at, listing_number
            rows between unbounded preceding and current row
        ) as cluster_number
    from (
        select
            series.series_number,
            listings.listing_number,
            listings.poll_number,
            listings.polled_at,
            listings.predicted_at,
            listings.is_theoretical,
            listings.is_stuck,
            listings.is_full,
            case
                when seconds_between(lag(listings.predicted_at) over series_listings, listings.predicted_at) > case
                    when listings.is_theoretical then parameters.theoretical_gap_seconds
                    else coalesce(looped_stops.gap_seconds, parameters.live_gap_seconds)
                end then 1
                else 0
            end as is_apart
        from {{ ref('listings') }} as listings
        inner join series using (operator, listed_id, stop_code, destination_text)
        cross join {{ ref('inference_parameters') }} as parameters
        left join looped_stops using (operator, service_date, stop_code, plain_label)
        where not listings.is_wrapped
        window series_listings as (
            partition by series.series_number, listings.is_theoretical
            order by listings.predicted_at, listings.listing_number
        )
    ) as gaps
),

splits as (
    -- an answer that lists a trip twice proves two visits: split the cluster half-way between them
    select
        series_number,
        is_theoretical,
        cluster_number,
        (min(half_way) + max(half_way)) / 2 as split_microseconds
    from (
        select
            series_number,
            is_theoretical,
            cluster_number,
            (microseconds(min(predicted_at)) + microseconds(max(predicted_at))) / 2 as half_way
        from clusters
        group by series_number, is_theoretical, cluster_number, poll_number
        having min(predicted_at) < max(predicted_at)
    ) as pairs
    group by series_number, is_theoretical, cluster_number
),

grouped as (
    select
        clusters.*,
        cast(floor(
            seconds_between(clusters.polled_at, clusters.predicted_at)
            / (2 * parameters.past_tolerance_seconds) + 0.5
        ) as bigint) as wait_class,
        2 * clusters.cluster_number
        + case when microseconds(clusters.predicted_at) >= splits.split_microseconds then 1 else 0 end
            as group_number
    from clusters
    cross join {{ ref('inference_parameters') }} as parameters
    left join splits using (series_number, is_theoretical, cluster_number)
),

moves as (
    -- a prediction that suddenly grew, or lies in the past, does not prove that the bus is still to come; nor does one
    -- that goes with the clock, as the same wait again and again, but for the first of these. Of a bus that stays
    -- listed after it passed, none does by which it is due now, or farther away than before
    select
        jumps.*,
        not jumps.is_theoretical
        and jumps.predicted_at >= add_seconds(jumps.polled_at, -parameters.past_tolerance_seconds)
        and coalesce(jumps.jump_seconds <= parameters.upward_jump_seconds, true)
        and not (
            jumps.polled_at > jumps.same_wait_from
            and seconds_between(jumps.same_wait_from, jumps.same_wait_to) > parameters.stuck_seconds
        )
        and not (
            jumps.is_stuck
            and (jumps.least_wait_class <= 0 or jumps.wait_class > jumps.least_wait_class)
        ) as is_ahead
    from (
        select
            *,
            min(polled_at) over same_wait as same_wait_from,
            max(polled_at) over same_wait as same_wait_to,
            min(wait_class) over visit as least_wait_class,
            seconds_between(lag(predicted_at) over visit, predicted_at)
            - seconds_between(lag(polled_at) over visit, polled_at) as jump_seconds
        from grouped
        window
            visit as (partition by series_number, is_theoretical, group_number order by listing_number),
            same_wait as (partition by series_number, is_theoretical, group_number, wait_class)
    ) as jumps
    cross join {{ ref('inference_parameters') }} as parameters
),

sums as (
    select
        series_number,
        is_theoretical,
        group_number,
        max(case when is_ahead then listing_number end) as ahead_listing_number,
        -- the last listing that proves the bus was still to come, or the last; of a bus that stays listed, the first
        coalesce(
            max(case when is_ahead then listing_number end),
            min(case when is_stuck then listing_number end),
            max(listing_number)
        ) as listing_number,
        min(poll_number) as first_poll_number,
        {{ value_at_least('predicted_at', 'listing_number') }} as first_predicted_at,
        min(polled_at) as first_seen_at,
        max(polled_at) as last_seen_at,
        count(*) as n_polls,
        count(case when is_full then 1 end) as n_full_polls
    from moves
    group by series_number, is_theoretical, group_number
),

later_listings as (
    -- still listed, although no longer as one that is certainly still ahead
    select
        series_number,
        is_theoretical,
        group_number,
        array_sort(collect_set(later.polled_at)) as still_listed_at
    from sums
    inner join moves as later using (series_number, is_theoretical, group_number)
    where later.listing_number > sums.ahead_listing_number
    group by series_number, is_theoretical, group_number
)

select
    sums.series_number,
    sums.group_number,
    sums.is_theoretical,
    last_listing.poll_number,
    listings.service_date,
    last_listing.predicted_at,
    listings.operator,
    listings.listed_id,
    listings.stop_code,
    listings.line_label,
    listings.plain_label,
    listings.is_slash_variant,
    listings.destination,
    listings.service_hour,
    listings.lead_seconds,
    case when last_listing.is_ahead then last_listing.polled_at end as passed_after,
    case when last_listing.is_ahead then last_listing.poll_number end as last_ahead_number,
    later_listings.still_listed_at,
    sums.first_poll_number,
    sums.first_predicted_at,
    sums.first_seen_at,
    sums.last_seen_at,
    sums.n_polls,
    sums.n_full_polls,
    looped_stops.half_loop_seconds
from sums
inner join moves as last_listing using (series_number, is_theoretical, group_number, listing_number)
inner join {{ ref('listings') }} as listings using (listing_number)
left join later_listings using (series_number, is_theoretical, group_number)
left join looped_stops using (operator, service_date, stop_code, plain_label)
