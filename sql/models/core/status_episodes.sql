{{ config(materialized='table') }}
-- One row per episode: an event of the service status from when it was first listed until it was listed no more.
-- An event has no identifier and no end: it is known by its category, code, lines and start, and it ends by
-- missing from a good answer. A failed poll, or none, is no evidence of an end.
with answers as (
    select
        operator,
        request_id,
        key,
        received_at,
        service_date
    from {{ ref('staging_requests') }}
    where endpoint = 'status' and is_good
),

entries as (
    -- equal entries of one answer are told apart by their place, so that a message may be edited
    select
        *,
        row_number() over (
            partition by operator, request_id, category, event, lines_text, started_at order by message, row_number
        ) as twin_number
    from (
        select
            *,
            {{ sorted_text('lines') }} as lines_text
        from {{ ref('staging_status') }}
    ) as status
),

timeline as (
    -- the answers that would have shown an event of a category: those about everything and those about it alone
    select
        answers.*,
        categories.category,
        row_number() over category_answers as answer_number,
        lead(answers.received_at) over category_answers as next_answer_at
    from (
        select distinct
            operator,
            category
        from entries
    ) as categories
    inner join answers
        on categories.operator = answers.operator and answers.key in ('', categories.category)
    window category_answers as (
        partition by answers.operator, categories.category order by answers.received_at, answers.request_id
    )
),

listed as (
    select
        entries.*,
        timeline.answer_number,
        timeline.next_answer_at,
        case
            when
                timeline.answer_number > lag(timeline.answer_number) over event_answers + 1
                and {{ seconds_between('lag(timeline.next_answer_at) over event_answers', 'timeline.received_at') }}
                > rules.flap_seconds then 1
            else 0
        end as is_new_episode,
        rules.ruleset_version
    from entries
    inner join timeline
        on
            entries.operator = timeline.operator
            and entries.request_id = timeline.request_id
            and entries.category = timeline.category
    {{ join_rules('timeline.service_date') }}
    window event_answers as (
        partition by
            entries.operator, entries.category, entries.event, entries.lines_text, entries.started_at,
            entries.twin_number
        order by timeline.answer_number
    )
),

episodes as (
    select
        *,
        sum(is_new_episode) over (
            partition by operator, category, event, lines_text, started_at, twin_number
            order by answer_number rows between unbounded preceding and current row
        ) as episode_number
    from listed
),

latest as (
    select
        *,
        row_number() over (
            partition by operator, category, event, lines_text, started_at, twin_number, episode_number
            order by answer_number desc
        ) as from_last,
        min(received_at) over episode as first_seen_at,
        max(received_at) over episode as last_seen_at,
        count(*) over episode as n_answers
    from episodes
    window episode as (
        partition by operator, category, event, lines_text, started_at, twin_number, episode_number
    )
),

messages as (
    select
        operator,
        category,
        event,
        lines_text,
        started_at,
        twin_number,
        episode_number,
        count(distinct message) as n_messages
    from episodes
    group by operator, category, event, lines_text, started_at, twin_number, episode_number
)

select
    md5(concat_ws(
        '|', latest.operator, latest.category, latest.event, coalesce(latest.lines_text, ''),
        coalesce(cast(latest.started_at as varchar), ''), latest.twin_number, latest.episode_number
    )) as episode_id,
    latest.operator,
    latest.category,
    latest.event,
    latest.lines,
    latest.lines_text,
    latest.lines_kind,
    latest.cause,
    latest.message,
    messages.n_messages,
    latest.started_at,
    latest.first_seen_at,
    latest.last_seen_at,
    latest.last_seen_at as ended_after,
    latest.next_answer_at as ended_before,
    latest.next_answer_at is null as is_open,
    latest.n_answers,
    latest.twin_number,
    cast(latest.episode_number + 1 as bigint) as episode_number,
    latest.ruleset_version
from latest
inner join messages
    on
        latest.operator = messages.operator
        and latest.category = messages.category
        and latest.event = messages.event
        and latest.lines_text is not distinct from messages.lines_text
        and latest.started_at is not distinct from messages.started_at
        and latest.twin_number = messages.twin_number
        and latest.episode_number = messages.episode_number
where latest.from_last = 1
