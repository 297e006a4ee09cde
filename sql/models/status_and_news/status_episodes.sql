{{ config(schema='core', materialized='table', meta={'reads_all_dates': 'an episode may last for many days'}) }}
-- One row per episode: an event of the service status, from the first answer that lists it to the first later one that
-- does not.
-- A failed answer, one without all its rows, or none, is no evidence of an end. Made of the intervals of each day, of
-- which there are few, so that an episode may last for many days.
{%- set event = "operator, category, event, lines_text, started_at, twin_number" %}
with next_days as (
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
    inner join {{ ref('status_answers') }} as later
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

steps as (
    select
        intervals.*,
        case
            when {{ seconds_between('lag(gone_at) over event_intervals', 'first_seen_at') }} > rules.flap_seconds then 1
            else 0
        end as is_new_episode
    from intervals
    {{ join_rules('first_service_date') }}
    window event_intervals as (partition by {{ event }} order by first_seen_at)
),

numbered as (
    select
        *,
        sum(is_new_episode) over (
            partition by {{ event }} order by first_seen_at rows between unbounded preceding and current row
        ) as episode_number
    from steps
),

episodes as (
    select
        *,
        md5(concat_ws(
            '|', operator, {{ key_part('category') }}, {{ key_part('event') }},
            coalesce({{ key_part('lines_text') }}, ''), coalesce(cast(started_at as varchar), ''), twin_number,
            episode_number
        )) as episode_id
    from numbered
),

latest as (
    select
        episodes.*,
        rules.ruleset_version,
        row_number() over (partition by episode_id order by first_seen_at desc) as from_last,
        min(first_seen_at) over episode as episode_seen_at,
        sum(n_answers) over episode as n_episode_answers
    from episodes
    {{ join_rules('last_service_date') }}
    window episode as (partition by episode_id)
),

messages as (
    select
        episode_id,
        count(distinct one_message) as n_messages
    from (
        select
            episode_id,
            {{ each_of('messages') }} as one_message
        from episodes
    ) as listed
    group by episode_id
)

select
    episode_id,
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
inner join messages using (episode_id)
where latest.from_last = 1
