{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, UTC day of receipt, event of the service status and interval: consecutive answers that
-- list the event, with no complete answer between them that does not.
-- An event has no identifier: it is identified by its category, code, lines and start.
{%- set event = "operator, received_date, category, event, lines_text, started_at, twin_number" %}
with answers as (
    select
        operator,
        request_id,
        category_asked,
        received_at,
        received_date,
        service_date,
        is_complete
    from {{ ref('status_polls') }}
    where {{ is_received_around() }}
),

entries as (
    -- equal entries of one answer are numbered, not compared by message, because messages are edited
    select
        *,
        row_number() over (
            partition by operator, request_id, category, event, lines_text, started_at order by message, row_number
        ) as twin_number
    from (
        select
            *,
            nullif({{ sorted_text('lines') }}, '') as lines_text
        from {{ ref('staging_status') }}
        where {{ is_received_around() }}
    ) as status
),

timeline as (
    -- the answers that would have listed an event of a category: those to all categories, those to this one, and those
    -- to another one that list it nevertheless
    select
        answers.*,
        categories.category,
        row_number() over category_answers as answer_number,
        count(case when answers.is_complete then 1 end) over (
            category_answers rows between unbounded preceding and current row
        ) as n_complete,
        min(case when answers.is_complete then answers.received_at end) over (
            category_answers rows between 1 following and unbounded following
        ) as next_answer_at
    from (
        select distinct
            operator,
            category
        from entries
    ) as categories
    inner join answers using (operator)
    left join (
        select distinct
            operator,
            category,
            request_id
        from entries
    ) as listing using (operator, request_id, category)
    where answers.category_asked in ('', categories.category) or listing.request_id is not null
    window category_answers as (
        partition by answers.operator, categories.category, answers.received_date
        order by answers.received_at, answers.request_id
    )
),

listed as (
    select
        entries.operator,
        timeline.received_date,
        entries.category,
        entries.event,
        entries.lines_text,
        entries.started_at,
        entries.twin_number,
        entries.lines,
        entries.lines_kind,
        entries.cause,
        entries.message,
        timeline.received_at,
        timeline.next_answer_at,
        timeline.service_date,
        timeline.answer_number,
        timeline.n_complete,
        timeline.n_complete - case when timeline.is_complete then 1 else 0 end as n_complete_before
    from entries
    inner join timeline using (operator, request_id, category)
),

begun as (
    select
        *,
        case
            when n_complete_before > lag(n_complete) over (partition by {{ event }} order by answer_number) then 1
            else 0
        end as is_first
    from listed
),

numbered as (
    select
        *,
        sum(is_first) over (
            partition by {{ event }} order by answer_number rows between unbounded preceding and current row
        ) as interval_number
    from begun
),

intervals as (
    select
        *,
        min(received_at) over one_interval as first_seen_at,
        min(service_date) over one_interval as first_service_date,
        count(*) over one_interval as n_answers,
        {{ list_of_distinct('message', over='one_interval') }} as messages,
        row_number() over (partition by {{ event }}, interval_number order by answer_number desc) as from_last
    from numbered
    window one_interval as (partition by {{ event }}, interval_number)
)

select
    {{ event }},
    first_seen_at,
    received_at as last_seen_at,
    -- the first later complete answer of that day; null when the last one still listed it
    next_answer_at,
    n_answers,
    first_service_date,
    service_date as last_service_date,
    lines,
    lines_kind,
    cause,
    message,
    messages
from intervals
where from_last = 1
