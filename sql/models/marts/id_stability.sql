-- One row per operator, service_date and line label: how upstream's trip identifiers behaved in the listings.
-- Counted in staging, so that it does not depend on what other models infer from the identifiers.
with listings as (
    select
        operator,
        service_date,
        line_label,
        trip_id,
        stop_code,
        coalesce(is_theoretical, false) as is_theoretical
    from {{ ref('staging_passages') }}
    where
        service_date between cast('{{ first_built() }}' as date) - 1 and cast('{{ last_built() }}' as date)
        and {{ is_received_around(days_before=2) }}
),

ids as (
    select
        operator,
        service_date,
        trip_id,
        min(line_label) as line_label,
        count(distinct line_label) as n_labels,
        max(case when is_theoretical then 0 else 1 end) as is_live,
        max(case when is_theoretical then 1 else 0 end) as is_theoretical
    from listings
    where trip_id is not null
    group by operator, service_date, trip_id
),

turned_live as (
    -- identifiers that one stop listed both as a timetable row and live: they stayed the same when tracking began
    select
        operator,
        service_date,
        trip_id
    from (
        select
            operator,
            service_date,
            trip_id,
            stop_code
        from listings
        where trip_id is not null
        group by operator, service_date, trip_id, stop_code
        having count(distinct is_theoretical) = 2
    ) as stops
    group by operator, service_date, trip_id
),

id_counts as (
    select
        ids.operator,
        ids.service_date,
        ids.line_label,
        count(*) as n_ids,
        count(case when ids.is_live = 1 then 1 end) as n_live_ids,
        count(turned_live.trip_id) as n_turned_live,
        count(case when ids.is_live = 1 and ids.is_theoretical = 0 then 1 end) as n_only_live,
        count(case when ids.is_live = 0 then 1 end) as n_only_theoretical,
        count(case when ids.n_labels > 1 then 1 end) as n_of_several_labels,
        count(day_before.trip_id) as n_repeated
    from ids
    left join turned_live using (operator, service_date, trip_id)
    left join ids as day_before
        on
            ids.operator = day_before.operator
            and ids.service_date - 1 = day_before.service_date
            and ids.trip_id = day_before.trip_id
    group by ids.operator, ids.service_date, ids.line_label
),

listing_counts as (
    select
        operator,
        service_date,
        line_label,
        count(*) as n_listings,
        count(case when not is_theoretical then 1 end) as n_live_listings,
        count(*) - count(trip_id) as n_listings_without_id
    from listings
    group by operator, service_date, line_label
)

select
    listing_counts.operator,
    listing_counts.service_date,
    listing_counts.line_label,
    listing_counts.n_listings,
    listing_counts.n_live_listings,
    listing_counts.n_listings_without_id,
    coalesce(id_counts.n_ids, 0) as n_ids,
    coalesce(id_counts.n_live_ids, 0) as n_live_ids,
    coalesce(id_counts.n_turned_live, 0) as n_turned_live,
    coalesce(id_counts.n_only_live, 0) as n_only_live,
    coalesce(id_counts.n_only_theoretical, 0) as n_only_theoretical,
    coalesce(id_counts.n_of_several_labels, 0) as n_of_several_labels,
    coalesce(id_counts.n_repeated, 0) as n_repeated
from listing_counts
left join id_counts
    on
        listing_counts.operator = id_counts.operator
        and listing_counts.service_date = id_counts.service_date
        and listing_counts.line_label is not distinct from id_counts.line_label
where {{ is_built('listing_counts.service_date') }}
