-- One row per operator, service_date, listed id, stop and visit: what the polls of the stop prove of when it passed.
-- An id may be a trip's, a vehicle's or a number that comes round again: visit_runs tells trips apart.
-- Neither schedule nor line is known yet.
with answers as (
    select
        request_id,
        operator,
        max(observed_at) as observed_at,
        count(*) as n_rows
    from {{ ref('staging_passages') }}
    where {{ is_received_around() }}
    group by request_id, operator
),

polls as (
    -- good answers only: a failed poll, an error row or an empty body says nothing about any bus;
    -- numbered so that those of a stop come in order
    select
        *,
        row_number() over (order by operator, stop_code, polled_at, request_id) as poll_number
    from (
        select
            requests.operator,
            requests.key as stop_code,
            requests.request_id,
            requests.service_date,
            coalesce(answers.observed_at, requests.received_at) as polled_at,
            -- an answer that lost rows to quarantine cannot prove that something was absent
            coalesce(requests.n_rows = coalesce(answers.n_rows, 0), false) as is_complete
        from {{ ref('staging_requests') }} as requests
        left join answers
            on requests.operator = answers.operator and requests.request_id = answers.request_id
        where
            requests.endpoint = 'passages'
            and requests.is_good
            and {{ is_received_around('requests.received_date') }}
    ) as good_answers
),

listings as (
    select
        polls.operator,
        polls.stop_code,
        polls.poll_number,
        polls.polled_at,
        1000000 * polls.poll_number + passages.row_number as listing_number,
        -- a timetable row without an id stands for the trip that is due then
        coalesce(
            passages.trip_id,
            case
                when passages.is_theoretical
                    then '@' || passages.line_label || '@' || cast(passages.predicted_at as varchar)
            end
        ) as listed_id,
        coalesce(passages.destination, '') as sign,
        passages.line_label,
        replace(passages.line_label, '/', '') as plain_label,
        passages.is_slash_variant,
        passages.destination,
        passages.predicted_at,
        passages.service_date,
        passages.service_hour,
        passages.is_full,
        coalesce(passages.is_theoretical, false) as is_theoretical,
        coalesce(passages.is_wrapped, false) as is_wrapped
    from {{ ref('staging_passages') }} as passages
    inner join polls
        on passages.operator = polls.operator and passages.request_id = polls.request_id
    where passages.predicted_at is not null and {{ is_received_around('passages.received_date') }}
),

rules_of_day as (
    select
        days.service_date,
        rules.*
    from (select distinct service_date from listings) as days
    {{ join_rules('days.service_date') }}
),

line_lists as (
    -- a stop lists about the next two passages of a line; one due after the last of them may only be hidden
    select
        listings.poll_number,
        listings.plain_label,
        {{ nth_smallest('listings.predicted_at', 'max(rules.listed_per_line)') }} as last_slot_at
    from listings
    inner join rules_of_day as rules on listings.service_date = rules.service_date
    group by listings.poll_number, listings.plain_label
),

looped_stops as (
    -- where a line comes by twice, or a bus comes round again soon, two predictions need not lie far apart to speak of
    -- two visits; and a bus that comes late by more than half the way round is the one that comes by again
    select
        stops.operator,
        stops.service_date,
        stops.stop_code,
        replace({{ plain_label('lines.line_number') }}, '/', '') as plain_number,
        min(
            case
                when stops.n_occurrences > 1 then rules.upward_jump_seconds
                else greatest(
                    rules.upward_jump_seconds,
                    least(rules.live_gap_seconds, stops.last_position * rules.step_usual_seconds / 2)
                )
            end
        ) as gap_seconds,
        min(
            case
                when stops.previous_position is not null
                    then greatest(
                        rules.live_gap_seconds,
                        (stops.position - stops.previous_position) * rules.step_usual_seconds / 2
                    )
            end
        ) as half_round_seconds
    from (
        select
            *,
            lag(position) over (
                partition by operator, service_date, line_code, direction, stop_code order by position
            ) as previous_position
        from {{ ref('line_stops_of_day') }}
    ) as stops
    {{ join_rules('stops.service_date') }}
    inner join {{ ref('lines') }} as lines
        on stops.operator = lines.operator and stops.line_code = lines.line_code
    where stops.n_occurrences > 1 or stops.is_circular
    group by
        stops.operator, stops.service_date, stops.stop_code,
        replace({{ plain_label('lines.line_number') }}, '/', '')
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
        left join looped_stops
            on
                listings.operator = looped_stops.operator
                and listings.service_date = looped_stops.service_date
                and listings.stop_code = looped_stops.stop_code
                and replace({{ plain_label('listings.line_label') }}, '/', '') = looped_stops.plain_number
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
),

sightings as (
    select
        clusters.*,
        2 * clusters.cluster_number
        + case when {{ microseconds('clusters.predicted_at') }} >= splits.split_microseconds then 1 else 0 end
            as visit_key
    from clusters
    left join splits
        on
            clusters.call_number = splits.call_number
            and clusters.is_theoretical = splits.is_theoretical
            and clusters.cluster_number = splits.cluster_number
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
        rules.vanish_seconds,
        rules.vanish_share,
        rules.early_gone_seconds,
        rules.gone_within_seconds,
        rules.link_early_seconds,
        rules.link_late_seconds,
        rules.match_doubt_seconds
    from live_sums
    inner join live_sightings as last_listing
        on
            live_sums.call_number = last_listing.call_number
            and live_sums.visit_key = last_listing.visit_key
            and live_sums.last_listing_number = last_listing.listing_number
    inner join listings on last_listing.listing_number = listings.listing_number
    inner join rules_of_day as rules on last_listing.service_date = rules.service_date
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
    left join looped_stops
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

absences as (
    -- later polls that no longer listed the visit although, by its last prediction, they should have;
    -- one poll alone does not prove that a bus passed well before it was predicted: rows go missing for a moment
    select
        live.call_number,
        live.visit_key,
        case
            when count(*) > 1 or min(later.early_seconds) <= min(later.early_gone_seconds)
                then min(case when not later.is_too_early then later.polled_at end)
        end as gone_at,
        min(case when later.is_too_early then later.polled_at end) as vanished_at,
        min(case when later.early_seconds > later.early_gone_seconds then later.polled_at end) as missed_early_at
    from live_visits as live
    inner join (
        select
            visits.call_number,
            visits.visit_key,
            polls.polled_at,
            visits.early_gone_seconds,
            {{ seconds_between('polls.polled_at', 'visits.predicted_at') }} as early_seconds,
            {{ seconds_between('polls.polled_at', 'visits.predicted_at') }}
            > visits.vanish_seconds
            + visits.vanish_share
            * greatest({{ seconds_between('visits.passed_after', 'visits.predicted_at') }}, 0) as is_too_early
        from live_visits as visits
        inner join polls
            on
                visits.operator = polls.operator
                and visits.stop_code = polls.stop_code
                and visits.last_ahead_number < polls.poll_number
                and polls.polled_at <= {{ add_seconds('visits.predicted_at', 'visits.gone_within_seconds') }}
        left join line_lists
            on
                polls.poll_number = line_lists.poll_number
                and visits.plain_label = line_lists.plain_label
        left join live_sightings as still_listed
            on
                visits.call_number = still_listed.call_number
                and visits.visit_key = still_listed.visit_key
                and polls.poll_number = still_listed.poll_number
        where
            polls.is_complete
            and still_listed.poll_number is null
            and (line_lists.last_slot_at is null or visits.predicted_at < line_lists.last_slot_at)
    ) as later
        on
            live.call_number = later.call_number
            and live.visit_key = later.visit_key
    group by live.call_number, live.visit_key
),

withdrawals as (
    -- polls before a timetable row was due that no longer listed it, and would have
    select
        theoretical.call_number,
        theoretical.visit_key,
        count(*) as n_polls,
        min(polls.polled_at) as withdrawn_at
    from theoretical_visits as theoretical
    inner join rules_of_day as rules on theoretical.service_date = rules.service_date
    inner join polls
        on
            theoretical.operator = polls.operator
            and theoretical.stop_code = polls.stop_code
            and polls.polled_at > theoretical.last_seen_at
            and polls.polled_at <= {{ add_seconds('theoretical.predicted_at', '-rules.not_run_until_seconds') }}
    left join line_lists
        on
            polls.poll_number = line_lists.poll_number
            and theoretical.plain_label = line_lists.plain_label
    where
        polls.is_complete
        and (line_lists.last_slot_at is null or theoretical.predicted_at < line_lists.last_slot_at)
    group by theoretical.call_number, theoretical.visit_key
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
        absences.gone_at,
        absences.vanished_at,
        absences.missed_early_at,
        coalesce(theoretical.poll_number > live.last_ahead_number, false) as is_reverted,
        least(live.first_seen_at, coalesce(theoretical.first_seen_at, live.first_seen_at)) as first_seen_at,
        greatest(live.last_seen_at, coalesce(theoretical.last_seen_at, live.last_seen_at)) as last_seen_at,
        live.first_seen_at as first_live_at,
        theoretical.last_seen_at as last_theoretical_at,
        live.n_polls,
        live.n_full_polls,
        coalesce(theoretical.n_polls, 0) as n_theoretical_polls,
        0 as n_withdrawn_polls,
        null as withdrawn_at,
        live.service_date,
        coalesce(theoretical.service_hour, live.service_hour) as service_hour
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
    left join absences
        on
            live.call_number = absences.call_number
            and live.visit_key = absences.visit_key
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
        null as gone_at,
        null as vanished_at,
        null as missed_early_at,
        false as is_reverted,
        theoretical.first_seen_at,
        theoretical.last_seen_at,
        null as first_live_at,
        theoretical.last_seen_at as last_theoretical_at,
        0 as n_polls,
        0 as n_full_polls,
        theoretical.n_polls as n_theoretical_polls,
        coalesce(withdrawals.n_polls, 0) as n_withdrawn_polls,
        withdrawals.withdrawn_at,
        theoretical.service_date,
        theoretical.service_hour
    from theoretical_visits as theoretical
    left join links
        on
            theoretical.call_number = links.call_number
            and theoretical.visit_key = links.theoretical_key
    left join withdrawals
        on
            theoretical.call_number = withdrawals.call_number
            and theoretical.visit_key = withdrawals.visit_key
    where links.theoretical_key is null
),

awake as (
    -- stretches of time the collector was at work: what lies beyond them has not been observed to its end
    select
        operator,
        min(polled_at) as awake_from,
        max(polled_at) as awake_to
    from (
        select
            *,
            sum(is_apart) over (
                partition by operator order by polled_at, request_id rows between unbounded preceding and current row
            ) as stretch
        from (
            select
                polls.*,
                case
                    when
                        {{ seconds_between('lag(polls.polled_at) over operator_polls', 'polls.polled_at') }}
                        > rules.gone_within_seconds
                        then 1
                    else 0
                end as is_apart
            from polls
            {{ join_rules('polls.service_date') }}
            window operator_polls as (partition by polls.operator order by polls.polled_at, polls.request_id)
        ) as steps
    ) as stretches
    group by operator, stretch
)

select
    visits.operator,
    visits.service_date,
    visits.listed_id,
    visits.stop_code,
    row_number() over (
        partition by visits.operator, visits.service_date, visits.listed_id, visits.stop_code
        order by coalesce(visits.theoretical_at, visits.last_predicted_at), visits.last_predicted_at, visits.destination
    ) as visit_number,
    visits.line_label,
    visits.is_slash_variant,
    visits.destination,
    visits.service_hour,
    visits.theoretical_at,
    visits.replaced_at,
    visits.replaced_seen_at,
    visits.last_predicted_at,
    visits.passed_after,
    visits.gone_at,
    visits.vanished_at,
    visits.missed_early_at,
    visits.is_reverted,
    visits.first_seen_at,
    visits.last_seen_at,
    visits.first_live_at,
    visits.last_theoretical_at,
    visits.n_polls,
    visits.n_full_polls,
    visits.n_theoretical_polls,
    visits.n_withdrawn_polls,
    visits.withdrawn_at
from visits
where
    {{ is_built('visits.service_date') }}
    and exists (
        select 1
        from awake
        where
            visits.operator = awake.operator
            and least(coalesce(visits.last_predicted_at, visits.theoretical_at), visits.gone_at)
            between awake.awake_from and awake.awake_to
    )
