{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, UTC day of receipt, entry of the service status and listing: consecutive answers that list the
-- entry in the same words, with none between them that proves that it was not listed.
-- An answer proves that unless rows of it could not be read that could be read when the entry was listed.
{%- set run = "operator, received_date, listing_key" %}
{%- set is_proof = "answers.n_unread <= levels.n_hidden and answers.category_asked in ('', categories.category)" %}
{%- set level_answers = "partition by answers.operator, answers.received_date, categories.category, levels.n_hidden "
    ~ "order by answers.received_at, answers.request_id" %}
{%- set texts = ['category', 'event', 'lines_text', 'started_text', 'cause', 'message'] %}
with entries as (
    select
        *,
        md5(concat_ws(
            '|',
            {% for text in texts %}
                coalesce(key_part({{ text }}), missing_part()),
            {% endfor %}
            lines_kind,
            twin_number
        )) as listing_key
    from (
        -- equal entries of one answer are numbered
        select
            *,
            row_number() over (
                partition by operator, request_id, lines_kind, {{ texts | join(", ") }} order by row_number
            ) as twin_number
        from (
            select
                *,
                nullif(sorted_text(lines), '') as lines_text
            from {{ ref('staging_status') }}
            where {{ is_received_around() }}
        ) as status
    ) as numbered
),

answers as (
    select
        operator,
        request_id,
        key as category_asked,
        received_at,
        received_date,
        service_date,
        n_unread
    from {{ ref('answer_evidence') }}
    where endpoint = 'status' and {{ is_received_around() }}
),

timeline as (
    -- for each category and number of rows that could not be read, the answers to all categories and to this one; and
    -- when the nearest ones were received that prove what they do not list
    select
        answers.*,
        categories.category,
        levels.n_hidden,
        max(case when {{ is_proof }} then answers.received_at end) over (
            {{ level_answers }} rows between unbounded preceding and 1 preceding
        ) as proof_before_at,
        min(case when {{ is_proof }} then answers.received_at end) over (
            {{ level_answers }} rows between 1 following and unbounded following
        ) as proof_after_at
    from (
        select distinct
            operator,
            category
        from entries
    ) as categories
    inner join (
        select distinct
            asked.operator,
            asked.received_date,
            coalesce(asked.n_unread, 0) as n_hidden
        from answers as asked
    ) as levels using (operator)
    inner join answers using (operator, received_date)
    left join (
        select distinct
            operator,
            category,
            request_id
        from entries
    ) as listing using (operator, category, request_id)
    where answers.category_asked in ('', categories.category) or listing.request_id is not null
),

listed as (
    select
        entries.*,
        timeline.received_at as answered_at,
        timeline.proof_before_at,
        timeline.proof_after_at,
        timeline.n_hidden,
        timeline.service_date as answer_date,
        row_number() over one_entry as nth,
        lag(timeline.proof_after_at) over one_entry as previous_proof_at
    from entries
    inner join timeline
        on
            entries.operator = timeline.operator
            and entries.request_id = timeline.request_id
            and entries.category = timeline.category
            and coalesce(timeline.n_unread, 0) = timeline.n_hidden
    window one_entry as (
        partition by entries.operator, entries.received_date, entries.listing_key
        order by timeline.received_at, entries.request_id
    )
),

runs as (
    select
        *,
        sum(case when previous_proof_at < answered_at then 1 else 0 end) over (
            partition by {{ run }} order by nth rows between unbounded preceding and current row
        ) as run_number
    from listed
),

ended as (
    select
        *,
        min(nth) over one_run as first_nth,
        max(nth) over one_run as last_nth
    from runs
    window one_run as (partition by {{ run }}, run_number)
)

select
    {{ run }},
    category,
    event,
    lines_text,
    started_text,
    cause,
    message,
    lines_kind,
    twin_number,
    {{ value_at_least('lines', 'nth') }} as lines,
    -- a clock time that comes twice is read as at first
    {{ value_at_least('started_at', 'nth') }} as started_at,
    min(answered_at) as first_seen_at,
    max(answered_at) as last_seen_at,
    -- the nearest answers of that day that prove that it was not listed; null if there are none
    max(case when nth = first_nth then proof_before_at end) as proof_before_at,
    max(case when nth = last_nth then proof_after_at end) as proof_after_at,
    {{ value_at_least('n_hidden', 'nth') }} as n_hidden_first,
    {{ value_at_greatest('n_hidden', 'nth') }} as n_hidden_last,
    count(*) as n_answers,
    min(answer_date) as first_service_date,
    max(answer_date) as last_service_date
from ended
group by {{ run }}, category, event, lines_text, started_text, cause, message, lines_kind, twin_number, run_number
