{{ config(materialized='ephemeral') }}
-- One row per visit that a stop listed as a timetable row around the service dates being built: its last listing.
with listings as (
    select * from {{ ref('listings') }}
),

timetable_rows as (
    select * from {{ ref('visit_listings') }}
    where is_theoretical
),

sums as (
    select
        series_number,
        group_number,
        max(listing_number) as listing_number,
        min(polled_at) as first_seen_at,
        max(polled_at) as last_seen_at,
        count(*) as n_polls
    from timetable_rows
    group by series_number, group_number
)

select
    last_listing.series_number,
    last_listing.group_number,
    last_listing.poll_number,
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
    sums.first_seen_at,
    sums.last_seen_at,
    sums.n_polls
from sums
inner join timetable_rows as last_listing using (series_number, group_number, listing_number)
inner join listings using (listing_number)
