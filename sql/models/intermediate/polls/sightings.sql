{{ config(materialized='ephemeral') }}
-- One row per listing of a trip around the service dates being built: the call, and the visit of it, that it speaks of.
-- A call is an id and destination listed at a stop; predictions of it that lie close together speak of one visit.
-- Millions a day: it is no table, but part of the models that ask it.
with listings as (
    select * from {{ ref('listings') }}
),

rules_of_day as (
    select * from {{ rules_of_dates("listings") }} as dates
),

calls as (
    -- a number for each id and destination at a stop: what follows sorts by it, and sorting by text is slow;
    -- a vehicle that comes back the other way shows another destination
    select
        *,
        row_number() over (order by operator, listed_id, stop_code, sign) as call_number
    from (
        select distinct
            operator,
            listed_id,
            stop_code,
            sign
        from listings
        where listed_id is not null
    ) as pairs
),

clusters as (
    -- predictions of one trip at one stop that lie close together speak of one visit;
    -- millions of rows are sorted from here on, so texts stay behind
    select
        *,
        sum(is_apart) over (
            partition by call_number, is_theoretical
            order by predicted_at, listing_number
            rows between unbounded preceding and current row
        ) as cluster_number
    from (
        select
            calls.call_number,
            listings.listing_number,
            listings.poll_number,
            listings.polled_at,
            listings.predicted_at,
            listings.service_date,
            listings.is_theoretical,
            listings.is_full,
            case
                when {{ seconds_between(
                    'lag(listings.predicted_at) over trip_at_stop', 'listings.predicted_at'
                ) }} > case
                    when listings.is_theoretical then rules.theoretical_gap_seconds
                    else coalesce(looped_stops.gap_seconds, rules.live_gap_seconds)
                end then 1
                else 0
            end as is_apart
        from listings
        inner join calls
            on
                listings.operator = calls.operator
                and listings.listed_id = calls.listed_id
                and listings.stop_code = calls.stop_code
                and listings.sign = calls.sign
        inner join rules_of_day as rules on listings.service_date = rules.service_date
        left join {{ ref('looped_stops') }} as looped_stops
            on
                listings.operator = looped_stops.operator
                and listings.service_date = looped_stops.service_date
                and listings.stop_code = looped_stops.stop_code
                and listings.plain_label = looped_stops.plain_number
        where not listings.is_wrapped
        window trip_at_stop as (
            partition by calls.call_number, listings.is_theoretical
            order by listings.predicted_at, listings.listing_number
        )
    ) as gaps
),

splits as (
    -- an answer that lists a trip twice proves two visits: part the cluster half-way between them
    select
        call_number,
        is_theoretical,
        cluster_number,
        (min(half_way) + max(half_way)) / 2 as split_microseconds
    from (
        select
            call_number,
            is_theoretical,
            cluster_number,
            ({{ microseconds('min(predicted_at)') }} + {{ microseconds('max(predicted_at)') }}) / 2 as half_way
        from clusters
        group by call_number, is_theoretical, cluster_number, poll_number
        having min(predicted_at) < max(predicted_at)
    ) as pairs
    group by call_number, is_theoretical, cluster_number
)

select
    clusters.call_number,
    clusters.listing_number,
    clusters.poll_number,
    clusters.polled_at,
    clusters.predicted_at,
    clusters.service_date,
    clusters.is_theoretical,
    clusters.is_full,
    2 * clusters.cluster_number
    + case when {{ microseconds('clusters.predicted_at') }} >= splits.split_microseconds then 1 else 0 end
        as visit_key
from clusters
left join splits
    on
        clusters.call_number = splits.call_number
        and clusters.is_theoretical = splits.is_theoretical
        and clusters.cluster_number = splits.cluster_number
