{{ config(materialized='table') }}
-- One row per episode: an event of the service status from when it was first listed until it was listed no more.
-- It ends by missing from a good answer; a failed poll, or none, is no evidence of an end. Put together from the spells
-- of each day, of which there are few.
with answer_days as (
    select
        operator,
        received_date,
        category_asked,
        first_answer_at
    from {{ ref('status_answers') }}
),

next_days as (
    -- the first answer after each day that would have shown an event of the category
    select
        spells.operator,
        spells.received_date,
        spells.category,
        min(later.first_answer_at) as next_answer_at
    from (
        select distinct
            operator,
            received_date,
            category
        from {{ ref('status_spells') }}
        where next_answer_at is null
    ) as spells
    inner join answer_days as later
        on
            spells.operator = later.operator
            and later.category_asked in ('', spells.category)
            and spells.received_date < later.received_date
    group by spells.operator, spells.received_date, spells.category
),

spells as (
    select
        spells.*,
        coalesce(spells.next_answer_at, next_days.next_answer_at) as gone_at
    from {{ ref('status_spells') }} as spells
    left join next_days
        on
            spells.operator = next_days.operator
            and spells.received_date = next_days.received_date
            and spells.category = next_days.category
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
            spells.*,
            case
                when
                    {{ seconds_between('lag(spells.gone_at) over event_spells', 'spells.first_seen_at') }}
                    > rules.flap_seconds then 1
                else 0
            end as is_new_episode
        from spells
        {{ join_rules('spells.first_service_date') }}
        window event_spells as (
            partition by
                spells.operator, spells.category, spells.event, spells.lines_text, spells.started_at,
                spells.twin_number
            order by spells.first_seen_at
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
