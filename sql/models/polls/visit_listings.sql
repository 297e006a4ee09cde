{{ config(materialized='ephemeral') }}
-- One row per listing around the service dates being built: the visit that it is about.
-- A series is what a stop lists under one id and destination; predictions of a series that lie close together are about
-- one visit. Live listings and timetable rows are grouped apart; listed_visits links the two.
-- Ephemeral, because there are millions a day.
with listings as (
    select * from {{ ref('listings') }}
),

series as (
    -- a vehicle that comes back in the other direction shows another destination; numbered because millions of rows are
    -- sorted by series below, and sorting by text is slow
    select
        *,
        row_number() over (order by operator, listed_id, stop_code, destination_text) as series_number
    from (
        select distinct
            operator,
            listed_id,
            stop_code,
            destination_text
        from listings
        where listed_id is not null
    ) as listed
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
            listings.service_date,
            listings.is_theoretical,
            listings.is_full,
            case
                when {{ seconds_between(
                    'lag(listings.predicted_at) over series_listings', 'listings.predicted_at'
                ) }} > case
                    when listings.is_theoretical then parameters.theoretical_gap_seconds
                    else coalesce(looped_stops.gap_seconds, parameters.live_gap_seconds)
                end then 1
                else 0
            end as is_apart
        from listings
        inner join series using (operator, listed_id, stop_code, destination_text)
        cross join {{ ref('inference_parameters') }} as parameters
        left join {{ ref('looped_stops') }} as looped_stops
            on
                listings.operator = looped_stops.operator
                and listings.service_date = looped_stops.service_date
                and listings.stop_code = looped_stops.stop_code
                and listings.plain_label = looped_stops.plain_number
                and {{ is_received_around('looped_stops.service_date', 2, 2) }}
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
            ({{ microseconds('min(predicted_at)') }} + {{ microseconds('max(predicted_at)') }}) / 2 as half_way
        from clusters
        group by series_number, is_theoretical, cluster_number, poll_number
        having min(predicted_at) < max(predicted_at)
    ) as pairs
    group by series_number, is_theoretical, cluster_number
)

select
    clusters.series_number,
    clusters.listing_number,
    clusters.poll_number,
    clusters.polled_at,
    clusters.predicted_at,
    clusters.service_date,
    clusters.is_theoretical,
    clusters.is_full,
    2 * clusters.cluster_number
    + case when {{ microseconds('clusters.predicted_at') }} >= splits.split_microseconds then 1 else 0 end
        as group_number
from clusters
left join splits using (series_number, is_theoretical, cluster_number)
