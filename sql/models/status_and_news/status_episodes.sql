{{ config(schema='core', materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
-- One row per episode: an event of the service status, from the first good answer that lists it to the first later one
-- that does not.
-- A failed answer, or none, is no evidence of an end. Made of the intervals of each day, of which there are few, so
-- that an episode may last for many days.
with answer_days as (
    select
        operator,
        received_date,
        category_asked,
        first_answer_at
    from {{ ref('status_answers') }}
),

next_days as (
    -- the first answer after each day that would have listed an event of the category
    select
        intervals.operator,
        intervals.received_date,
        intervals.category,
        min(later.first_answer_at) as next_answer_at
    from (
        select distinct
            operator,
            received_date,
            category
        from {{ ref('status_intervals') }}
        where next_answer_at is null
    ) as intervals
    inner join answer_days as later
        on
            intervals.operator = later.operator
            and later.category_asked in ('', intervals.category)
            and intervals.received_date < later.received_date
    group by intervals.operator, intervals.received_date, intervals.category
),

intervals as (
    select
        intervals.*,
        coalesce(intervals.next_answer_at, next_days.next_answer_at) as gone_at
    from {{ ref('status_intervals') }} as intervals
    left join next_days using (operator, received_date, category)
),

episodes as (
    select
        *,
        sum(is_new_episode) over (
            partition by operator, category, event, lines_text, started_at, twin_number
            order by first_seen_at rows between unbounded preceding and current row
        ) as episode_number
    from (
        select
            intervals.*,
            case
                when
                    {{ seconds_between('lag(intervals.gone_at) over event_intervals', 'intervals.first_seen_at') }}
                    > rules.flap_seconds then 1
                else 0
            end as is_new_episode
        from intervals
        {{ join_rules('intervals.first_service_date') }}
        window event_intervals as (
            partition by
                intervals.operator, intervals.category, intervals.event, intervals.lines_text, intervals.started_at,
                intervals.twin_number
            order by intervals.first_seen_at
        )
    ) as steps
),

latest as (
    select
        episodes.*,
        rules.ruleset_version,
        row_number() over (
            partition by
                episodes.operator, episodes.category, episodes.event, episodes.lines_text, episodes.started_at,
                episodes.twin_number, episodes.episode_number
            order by episodes.first_seen_at desc
        ) as from_last,
        min(episodes.first_seen_at) over episode as episode_seen_at,
        sum(episodes.n_answers) over episode as n_episode_answers
    from episodes
    {{ join_rules('episodes.last_service_date') }}
    window episode as (
        partition by
            episodes.operator, episodes.category, episodes.event, episodes.lines_text, episodes.started_at,
            episodes.twin_number, episodes.episode_number
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
        count(distinct one_message) as n_messages
    from (
        select
            operator,
            category,
            event,
            lines_text,
            started_at,
            twin_number,
            episode_number,
            {{ each_of('messages') }} as one_message
        from episodes
    ) as listed
    group by operator, category, event, lines_text, started_at, twin_number, episode_number
)

select
    md5(concat_ws(
        '|', latest.operator, {{ key_part('latest.category') }}, {{ key_part('latest.event') }},
        coalesce({{ key_part('latest.lines_text') }}, ''), coalesce(cast(latest.started_at as varchar), ''),
        latest.twin_number, latest.episode_number
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
    latest.episode_seen_at as first_seen_at,
    latest.last_seen_at,
    latest.last_seen_at as ended_after,
    latest.gone_at as ended_before,
    latest.gone_at is null as is_open,
    cast(latest.n_episode_answers as bigint) as n_answers,
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
