-- One row per operator, service_date, listed id, stop and visit: how the polls of the stop listed it, live and as a
-- timetable row.
-- An id may be a trip's, a vehicle's or a number that comes round again: visit_trips tells trips apart.
-- Neither schedule nor line is known yet.
with listings as (
    select * from {{ ref('listings') }}
),

sightings as (
    select * from {{ ref('sightings') }}
),

rules_of_day as (
    select * from {{ rules_of_dates("sightings") }} as dates
),

live_sightings as (
    -- a prediction that suddenly grew, or lies in the past, does not prove that the bus is still to come
    select
        jumps.*,
        jumps.predicted_at >= {{ add_seconds('jumps.polled_at', '-rules.past_tolerance_seconds') }}
        and coalesce(jumps.jump_seconds <= rules.upward_jump_seconds, true) as is_ahead
    from (
        select
            *,
            {{ seconds_between('lag(predicted_at) over visit', 'predicted_at') }}
            - {{ seconds_between('lag(polled_at) over visit', 'polled_at') }} as jump_seconds
        from sightings
        where not is_theoretical
        window visit as (partition by call_number, visit_key order by listing_number)
    ) as jumps
    inner join rules_of_day as rules on jumps.service_date = rules.service_date
),

live_sums as (
    select
        call_number,
        visit_key,
        max(case when is_ahead then listing_number end) as ahead_listing_number,
        -- the last listing that proves the bus was still to come, or just the last
        coalesce(max(case when is_ahead then listing_number end), max(listing_number)) as last_listing_number,
        min(poll_number) as first_poll_number,
        {{ value_at_least('predicted_at', 'listing_number') }} as first_predicted_at,
        min(polled_at) as first_seen_at,
        max(polled_at) as last_seen_at,
        count(*) as n_polls,
        count(case when is_full then 1 end) as n_full_polls
    from live_sightings
    group by call_number, visit_key
),

live_visits as (
    select
        last_listing.*,
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
        live_sums.first_poll_number,
        live_sums.first_predicted_at,
        live_sums.first_seen_at,
        live_sums.last_seen_at,
        live_sums.n_polls,
        live_sums.n_full_polls,
        rules.link_early_seconds,
        rules.link_late_seconds,
        rules.match_doubt_seconds,
        rules.ruleset_version
    from live_sums
    inner join live_sightings as last_listing
        on
            live_sums.call_number = last_listing.call_number
            and live_sums.visit_key = last_listing.visit_key
            and live_sums.last_listing_number = last_listing.listing_number
    inner join listings on last_listing.listing_number = listings.listing_number
    inner join rules_of_day as rules on last_listing.service_date = rules.service_date
),

later_listings as (
    -- listed on, although no longer as one that is surely to come
    select
        live_sums.call_number,
        live_sums.visit_key,
        {{ list_of_distinct('later.polled_at') }} as still_listed_at
    from live_sums
    inner join live_sightings as later
        on
            live_sums.call_number = later.call_number
            and live_sums.visit_key = later.visit_key
            and live_sums.ahead_listing_number < later.listing_number
    group by live_sums.call_number, live_sums.visit_key
),

theoretical_sums as (
    select
        call_number,
        visit_key,
        max(listing_number) as last_listing_number,
        min(polled_at) as first_seen_at,
        max(polled_at) as last_seen_at,
        count(*) as n_polls
    from sightings
    where is_theoretical
    group by call_number, visit_key
),

theoretical_visits as (
    select
        last_listing.*,
        listings.operator,
        listings.listed_id,
        listings.stop_code,
        listings.line_label,
        listings.plain_label,
        listings.is_slash_variant,
        listings.destination,
        listings.service_hour,
        theoretical_sums.first_seen_at,
        theoretical_sums.last_seen_at,
        theoretical_sums.n_polls
    from theoretical_sums
    inner join sightings as last_listing
        on
            theoretical_sums.call_number = last_listing.call_number
            and theoretical_sums.visit_key = last_listing.visit_key
            and theoretical_sums.last_listing_number = last_listing.listing_number
    inner join listings on last_listing.listing_number = listings.listing_number
    where last_listing.is_theoretical
),

link_pairs as (
    select
        live.call_number,
        live.visit_key,
        live.predicted_at as live_at,
        theoretical.call_number as theoretical_call_number,
        theoretical.visit_key as theoretical_key,
        theoretical.predicted_at as theoretical_at,
        abs({{ seconds_between('theoretical.predicted_at', 'live.predicted_at') }}) as off_seconds
    from live_visits as live
    inner join theoretical_visits as theoretical
        on live.call_number = theoretical.call_number
    left join {{ ref('looped_stops') }} as looped_stops
        on
            live.operator = looped_stops.operator
            and live.service_date = looped_stops.service_date
            and live.stop_code = looped_stops.stop_code
            and live.plain_label = looped_stops.plain_number
    where
        {{ seconds_between('theoretical.predicted_at', 'live.predicted_at') }}
        between -live.link_early_seconds
        and least(live.link_late_seconds, coalesce(looped_stops.half_round_seconds, live.link_late_seconds))
),

handover_pairs as (
    select
        live.call_number,
        live.visit_key,
        live.first_predicted_at as live_at,
        live.match_doubt_seconds,
        announced.call_number as theoretical_call_number,
        announced.visit_key as theoretical_key,
        announced.predicted_at as theoretical_at,
        announced.polled_at as replaced_seen_at,
        abs({{ seconds_between('announced.predicted_at', 'live.first_predicted_at') }}) as off_seconds
    from live_visits as live
    inner join theoretical_visits as announced
        on
            live.operator = announced.operator
            and live.stop_code = announced.stop_code
            and live.plain_label = announced.plain_label
            and coalesce(live.destination, '') = coalesce(announced.destination, '')
            and live.first_poll_number = announced.poll_number + 1
            -- one whose time had come was taken off the list for that
            and announced.predicted_at > live.first_seen_at
            and {{ seconds_between('announced.predicted_at', 'live.first_predicted_at') }}
            between -live.link_early_seconds and live.link_late_seconds
    where announced.listed_id like '@%' and live.listed_id not like '@%'
),

links as (
    -- a live visit and a theoretical one of the same trip and stop belong together when each is the other's nearest
    select *
    from {{ each_others_nearest("link_pairs") }} as nearest
),

handovers as (
    -- a timetable row without an id that gave way to a bus from one poll to the next: where each is by far the other's
    -- nearest, the bus runs as what the row announced
    select *
    from {{ each_others_nearest("handover_pairs") }} as nearest
    where coalesce(nearer_by_seconds >= match_doubt_seconds, true)
),

visits as (
    select
        live.operator,
        live.listed_id,
        live.stop_code,
        live.line_label,
        live.is_slash_variant,
        live.destination,
        theoretical.predicted_at as theoretical_at,
        case when links.theoretical_key is null then handovers.theoretical_at end as replaced_at,
        case when links.theoretical_key is null then handovers.replaced_seen_at end as replaced_seen_at,
        live.predicted_at as last_predicted_at,
        live.passed_after,
        later_listings.still_listed_at,
        coalesce(theoretical.poll_number > live.last_ahead_number, false) as is_reverted,
        least(live.first_seen_at, coalesce(theoretical.first_seen_at, live.first_seen_at)) as first_seen_at,
        greatest(live.last_seen_at, coalesce(theoretical.last_seen_at, live.last_seen_at)) as last_seen_at,
        live.first_seen_at as first_live_at,
        theoretical.last_seen_at as last_theoretical_at,
        live.n_polls,
        live.n_full_polls,
        coalesce(theoretical.n_polls, 0) as n_theoretical_polls,
        live.service_date,
        coalesce(theoretical.service_hour, live.service_hour) as service_hour,
        live.ruleset_version
    from live_visits as live
    left join links
        on
            live.call_number = links.call_number
            and live.visit_key = links.visit_key
    left join theoretical_visits as theoretical
        on
            links.call_number = theoretical.call_number
            and links.theoretical_key = theoretical.visit_key
    left join handovers
        on
            live.call_number = handovers.call_number
            and live.visit_key = handovers.visit_key
    left join later_listings
        on
            live.call_number = later_listings.call_number
            and live.visit_key = later_listings.visit_key
    union all
    select
        theoretical.operator,
        theoretical.listed_id,
        theoretical.stop_code,
        theoretical.line_label,
        theoretical.is_slash_variant,
        theoretical.destination,
        theoretical.predicted_at as theoretical_at,
        null as replaced_at,
        null as replaced_seen_at,
        null as last_predicted_at,
        null as passed_after,
        null as still_listed_at,
        false as is_reverted,
        theoretical.first_seen_at,
        theoretical.last_seen_at,
        null as first_live_at,
        theoretical.last_seen_at as last_theoretical_at,
        0 as n_polls,
        0 as n_full_polls,
        theoretical.n_polls as n_theoretical_polls,
        theoretical.service_date,
        theoretical.service_hour,
        rules.ruleset_version
    from theoretical_visits as theoretical
    left join links
        on
            theoretical.call_number = links.call_number
            and theoretical.visit_key = links.theoretical_key
    inner join rules_of_day as rules on theoretical.service_date = rules.service_date
    where links.theoretical_key is null
)

select
    operator,
    service_date,
    listed_id,
    stop_code,
    row_number() over (
        partition by operator, service_date, listed_id, stop_code
        order by coalesce(theoretical_at, last_predicted_at), last_predicted_at, destination
    ) as visit_number,
    line_label,
    is_slash_variant,
    destination,
    service_hour,
    theoretical_at,
    replaced_at,
    replaced_seen_at,
    last_predicted_at,
    passed_after,
    still_listed_at,
    is_reverted,
    first_seen_at,
    last_seen_at,
    first_live_at,
    last_theoretical_at,
    n_polls,
    n_full_polls,
    n_theoretical_polls,
    ruleset_version
from visits
where {{ is_built() }}
