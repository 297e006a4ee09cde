-- One row per operator, service_date, listed id, stop and visit: what the answers of the stop prove about when it
-- passed.
-- An answer proves that a bus has passed by not listing it although it would have.
with polls as (
    select * from {{ ref('stop_polls') }}
    where {{ is_received_around() }}
),

visits as (
    select
        *,
        replace(line_label, '/', '') as plain_label,
        -- until when its stop would list it, by its last prediction
        add_seconds(last_predicted_at, -coalesce(lead_seconds, 0)) as listed_until_at
    from {{ built('listed_visits') }}
    cross join {{ ref('inference_parameters') }}
),

list_ends as (
    -- a stop lists only the next passages of a line: one expected after the last of a full list may just have no room
    select
        listings.poll_number,
        listings.plain_label,
        {{ nth_smallest('listings.predicted_at', 'max(parameters.listed_per_line)') }} as list_end_at
    from {{ ref('listings') }} as listings
    cross join {{ ref('inference_parameters') }} as parameters
    group by listings.poll_number, listings.plain_label
),

still_listed as (
    select
        listed_visit_key,
        {{ each_of('still_listed_at') }} as polled_at
    from visits
    where still_listed_at is not null
),

absences as (
    -- later answers that did not list a live visit although, by its last prediction, they would have
    select
        visits.listed_visit_key,
        polls.polled_at,
        visits.early_absence_seconds,
        seconds_between(polls.polled_at, visits.listed_until_at) as early_seconds,
        seconds_between(polls.polled_at, visits.listed_until_at)
        > visits.vanish_seconds
        + visits.vanish_share
        * greatest(seconds_between(visits.passed_after, visits.last_predicted_at), 0) as is_too_early
    from visits
    inner join polls
        on
            visits.operator = polls.operator
            and visits.stop_code = polls.stop_code
            and visits.passed_after < polls.polled_at
            and polls.polled_at <= add_seconds(visits.last_predicted_at, visits.gone_within_seconds)
    left join list_ends using (poll_number, plain_label)
    left join still_listed using (listed_visit_key, polled_at)
    {{ join_doubts('visits.plain_label') }}
    where
        polls.is_complete
        and doubts.request_id is null
        and still_listed.polled_at is null
        and coalesce(visits.last_predicted_at < list_ends.list_end_at, true)
),

ends as (
    -- rows go missing for a moment: one answer alone does not prove that a bus passed well before its prediction
    select
        listed_visit_key,
        case
            when count(*) > 1 or min(early_seconds) <= min(early_absence_seconds)
                then min(case when not is_too_early then polled_at end)
        end as gone_at,
        min(case when is_too_early then polled_at end) as vanished_at,
        min(case when early_seconds > early_absence_seconds then polled_at end) as missed_early_at
    from absences
    group by listed_visit_key
),

withdrawals as (
    -- answers before a timetable row was due that did not list it any more although they would have
    select
        visits.listed_visit_key,
        count(*) as n_polls,
        min(polls.polled_at) as withdrawn_at
    from visits
    inner join polls
        on
            visits.operator = polls.operator
            and visits.stop_code = polls.stop_code
            and visits.last_theoretical_at < polls.polled_at
            and polls.polled_at <= add_seconds(visits.theoretical_at, -visits.vanish_seconds)
    left join list_ends using (poll_number, plain_label)
    {{ join_doubts('visits.plain_label') }}
    where
        visits.n_polls = 0
        and polls.is_complete
        and doubts.request_id is null
        and coalesce(visits.theoretical_at < list_ends.list_end_at, true)
    group by visits.listed_visit_key
),

collecting as (
    -- periods in which the collector worked without a long pause: a visit expected outside them was not observed to its
    -- end
    select
        operator,
        min(polled_at) as from_at,
        max(polled_at) as to_at
    from (
        select
            *,
            sum(is_apart) over (
                partition by operator order by polled_at, request_id rows between unbounded preceding and current row
            ) as period
        from (
            select
                polls.*,
                case
                    when seconds_between(lag(polled_at) over listed, polled_at) > gone_within_seconds then 1
                    else 0
                end as is_apart
            from polls
            cross join {{ ref('inference_parameters') }}
            window listed as (partition by operator order by polled_at, request_id)
        ) as steps
    ) as periods
    group by operator, period
)

select
    visits.listed_visit_key,
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
    visits.expected_at,
    visits.theoretical_at,
    visits.replaced_at,
    visits.replaced_seen_at,
    visits.last_predicted_at,
    visits.passed_after,
    add_seconds(ends.gone_at, coalesce(visits.lead_seconds, 0)) as gone_at,
    ends.vanished_at,
    ends.missed_early_at,
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
left join ends using (listed_visit_key)
left join withdrawals using (listed_visit_key)
where
    exists (
        select 1
        from collecting
        where
            visits.operator = collecting.operator
            and least(coalesce(visits.last_predicted_at, visits.theoretical_at), ends.gone_at)
            between collecting.from_at and collecting.to_at
    )
