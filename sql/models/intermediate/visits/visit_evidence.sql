-- One row per operator, service_date, listed id, stop and visit: what the polls of the stop prove of when it passed.
-- A poll proves it by no longer listing what it would have listed.
with listings as (
    select * from {{ ref('listings') }}
),

polls as (
    select * from {{ ref('numbered_polls') }}
),

visits as (
    select
        listed.*,
        replace(listed.line_label, '/', '') as plain_label,
        rules.vanish_seconds,
        rules.vanish_share,
        rules.early_gone_seconds,
        rules.gone_within_seconds,
        rules.not_run_until_seconds
    from {{ ref('listed_visits') }} as listed
    {{ join_rules('listed.service_date') }}
    where {{ is_built('listed.service_date') }}
),

line_lists as (
    -- a stop lists about the next two passages of a line; one due after the last of them may only be hidden
    select
        listings.poll_number,
        listings.plain_label,
        {{ nth_smallest('listings.predicted_at', 'max(rules.listed_per_line)') }} as last_slot_at
    from listings
    inner join {{ rules_of_dates("listings") }} as rules on listings.service_date = rules.service_date
    group by listings.poll_number, listings.plain_label
),

still_listed as (
    select
        operator,
        service_date,
        listed_id,
        stop_code,
        visit_number,
        {{ each_of('still_listed_at') }} as polled_at
    from visits
    where still_listed_at is not null
),

later_polls as (
    -- later polls that no longer listed a live visit although, by its last prediction, they should have
    select
        visits.operator,
        visits.service_date,
        visits.listed_id,
        visits.stop_code,
        visits.visit_number,
        polls.polled_at,
        visits.early_gone_seconds,
        {{ seconds_between('polls.polled_at', 'visits.last_predicted_at') }} as early_seconds,
        {{ seconds_between('polls.polled_at', 'visits.last_predicted_at') }}
        > visits.vanish_seconds
        + visits.vanish_share
        * greatest({{ seconds_between('visits.passed_after', 'visits.last_predicted_at') }}, 0) as is_too_early
    from visits
    inner join polls
        on
            visits.operator = polls.operator
            and visits.stop_code = polls.stop_code
            and visits.passed_after < polls.polled_at
            and polls.polled_at <= {{ add_seconds('visits.last_predicted_at', 'visits.gone_within_seconds') }}
    left join line_lists
        on
            polls.poll_number = line_lists.poll_number
            and visits.plain_label = line_lists.plain_label
    left join still_listed
        on
            {{ is_same_visit('visits', 'still_listed', 'listed_id') }}
            and polls.polled_at = still_listed.polled_at
    where
        polls.is_complete
        and still_listed.polled_at is null
        and (line_lists.last_slot_at is null or visits.last_predicted_at < line_lists.last_slot_at)
),

absences as (
    -- one poll alone does not prove that a bus passed well before it was predicted: rows go missing for a moment
    select
        operator,
        service_date,
        listed_id,
        stop_code,
        visit_number,
        case
            when count(*) > 1 or min(early_seconds) <= min(early_gone_seconds)
                then min(case when not is_too_early then polled_at end)
        end as gone_at,
        min(case when is_too_early then polled_at end) as vanished_at,
        min(case when early_seconds > early_gone_seconds then polled_at end) as missed_early_at
    from later_polls
    group by operator, service_date, listed_id, stop_code, visit_number
),

withdrawals as (
    -- polls before a timetable row was due that no longer listed it, and would have
    select
        visits.operator,
        visits.service_date,
        visits.listed_id,
        visits.stop_code,
        visits.visit_number,
        count(*) as n_polls,
        min(polls.polled_at) as withdrawn_at
    from visits
    inner join polls
        on
            visits.operator = polls.operator
            and visits.stop_code = polls.stop_code
            and visits.last_theoretical_at < polls.polled_at
            and polls.polled_at <= {{ add_seconds('visits.theoretical_at', '-visits.not_run_until_seconds') }}
    left join line_lists
        on
            polls.poll_number = line_lists.poll_number
            and visits.plain_label = line_lists.plain_label
    where
        visits.n_polls = 0
        and polls.is_complete
        and (line_lists.last_slot_at is null or visits.theoretical_at < line_lists.last_slot_at)
    group by visits.operator, visits.service_date, visits.listed_id, visits.stop_code, visits.visit_number
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
        order by visits.visit_number
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
    absences.gone_at,
    absences.vanished_at,
    absences.missed_early_at,
    visits.is_reverted,
    visits.first_seen_at,
    visits.last_seen_at,
    visits.first_live_at,
    visits.last_theoretical_at,
    visits.n_polls,
    visits.n_full_polls,
    visits.n_theoretical_polls,
    coalesce(withdrawals.n_polls, 0) as n_withdrawn_polls,
    withdrawals.withdrawn_at
from visits
left join absences
    on
        {{ is_same_visit('visits', 'absences', 'listed_id') }}
left join withdrawals
    on
        {{ is_same_visit('visits', 'withdrawals', 'listed_id') }}
where
    exists (
        select 1
        from awake
        where
            visits.operator = awake.operator
            and least(coalesce(visits.last_predicted_at, visits.theoretical_at), absences.gone_at)
            between awake.awake_from and awake.awake_to
    )
