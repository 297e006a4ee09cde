{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, UTC day of receipt, event of the service status and interval: consecutive answers of
-- status_polls that list the event.
-- An event has no identifier: it is identified by its category, code, lines and start.
{%- set event = "operator, received_date, category, event, lines_text, started_at, twin_number" %}
with answers as (
    select
        operator,
        request_id,
        category_asked,
        received_at,
        received_date,
        service_date
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
        lead(answers.received_at) over category_answers as next_answer_at
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
        timeline.answer_number
    from entries
    inner join timeline using (operator, request_id, category)
),

numbered as (
    select
        *,
        answer_number - row_number() over (partition by {{ event }} order by answer_number) as interval_number
    from listed
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
    -- the first later answer of that day; null when the last one still listed it
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
