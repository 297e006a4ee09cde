-- One row per operator, service_date and line label: how upstream's trip identifiers behaved in the listings.
-- Counted in staging, so that it does not depend on what other models infer from the identifiers.
with listings as (
    select
        operator,
        service_date,
        line_label,
        trip_id,
        stop_code,
        case when is_theoretical then 0 else 1 end as is_live
    from {{ ref('staging_passages') }}
    where
        service_date between cast('{{ first_built() }}' as date) - 1 and cast('{{ last_built() }}' as date)
        and {{ is_received_around(days_before=2) }}
),

ids_of_stops as (
    select
        operator,
        service_date,
        trip_id,
        min(line_label) as first_label,
        max(line_label) as last_label,
        max(is_live) as is_live,
        max(1 - is_live) as is_theoretical
    from listings
    where trip_id is not null
    group by operator, service_date, trip_id, stop_code
),

ids as (
    -- an identifier that one stop listed both as a timetable row and live stayed the same when tracking began
    select
        operator,
        service_date,
        trip_id,
        min(first_label) as line_label,
        max(is_live) as is_live,
        max(is_theoretical) as is_theoretical,
        max(is_live * is_theoretical) as has_turned_live,
        case when min(first_label) < max(last_label) then 1 end as has_several_labels
    from ids_of_stops
    group by operator, service_date, trip_id
),

id_counts as (
    select
        ids.operator,
        ids.service_date,
        ids.line_label,
        count(*) as n_ids,
        count(case when ids.is_live = 1 then 1 end) as n_live_ids,
        count(case when ids.has_turned_live = 1 then 1 end) as n_turned_live,
        count(case when ids.is_theoretical = 0 then 1 end) as n_only_live,
        count(case when ids.is_live = 0 then 1 end) as n_only_theoretical,
        count(ids.has_several_labels) as n_of_several_labels,
        count(day_before.trip_id) as n_repeated
    from ids
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
        cast(sum(is_live) as bigint) as n_live_listings,
        count(*) - count(trip_id) as n_listings_without_id
    from listings
    where {{ is_built() }}
    group by operator, service_date, line_label
)

select
    listing_counts.*,
    {%- for count in ["n_ids", "n_live_ids", "n_turned_live", "n_only_live", "n_only_theoretical",
        "n_of_several_labels"] %}
        coalesce(id_counts.{{ count }}, 0) as {{ count }},
    {%- endfor %}
    coalesce(id_counts.n_repeated, 0) as n_repeated
from listing_counts
left join id_counts
    on
        listing_counts.operator = id_counts.operator
        and listing_counts.service_date = id_counts.service_date
        and listing_counts.line_label is not distinct from id_counts.line_label
