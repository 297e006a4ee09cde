{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
{%- set tables = {
    'lines': 'lines', 'stops': 'line_stops', 'timetables': 'timetables', 'status': 'status', 'news': 'news',
    'news_details': 'news_details'
} %}
{%- set stream = "operator, endpoint, key" %}
{%- set least_rows = "case when neighbours.endpoint in ('lines', 'stops')"
    ~ " then least(parameters.shrunk_network_share * neighbours.n_rows_before, neighbours.n_rows_before - 1)"
    ~ " else parameters.shrunk_share * neighbours.n_rows_before end" %}
-- One row per operator and good answer, passages apart: what it proves. Of passages `stop_polls` says it.
-- A complete answer proves that what it lists was listed, and that nothing else was. One that lost rows to quarantine
-- (`partly_quarantined`), or lists far less than the one before it or those on both sides (`shrunk`), proves the first
-- alone; one of which nothing could be read (`unreadable`, `rejected`) proves nothing. A failed request has no row.
-- Answers up to two days earlier and one day later are compared, so that building by days gives the same.
with kept as (
    {% for endpoint, table in tables.items() %}
        select
            operator,
            request_id,
            count(*) as n_kept
        from {{ ref('staging_' ~ table) }}
        where {{ is_received_around(days_before=3, days_after=2) }}
        group by operator, request_id
        {{ "union all" if not loop.last }}
    {% endfor %}
),

answers as (
    select
        requests.operator,
        requests.received_date,
        requests.service_date,
        requests.endpoint,
        requests.key,
        requests.request_id,
        requests.received_at,
        requests.n_rows,
        coalesce(kept.n_kept, 0) as n_kept,
        {{ reading_of('requests.n_rows', 'kept.n_kept') }} as reading
    from {{ ref('staging_requests') }} as requests
    left join kept using (operator, request_id)
    where
        requests.is_good
        and requests.endpoint in ('{{ tables | join("', '") }}')
        and {{ is_received_around('requests.received_date', 3, 2) }}
),

neighbours as (
    -- of the complete answers of a stream: how many rows the one before and the one after have
    select
        *,
        case
            when days_between(lag(received_date) over one_stream, received_date) <= 2
                then lag(n_rows) over one_stream
        end as n_rows_before,
        case
            when days_between(received_date, lead(received_date) over one_stream) <= 1
                then lead(n_rows) over one_stream
        end as n_rows_after,
        lead(received_at) over one_stream as next_received_at
    from answers
    where reading = 'complete' and endpoint in ('lines', 'stops', 'timetables', 'status', 'news')
    window one_stream as (partition by {{ stream }} order by received_at, request_id)
),

listed as (
    -- each event and news item that is listed, as far as it stays the same, and when it is listed next
    select
        neighbours.*,
        lead(neighbours.received_at) over (
            partition by neighbours.operator, neighbours.endpoint, neighbours.key, items.item
            order by neighbours.received_at
        ) as listed_again_at
    from neighbours
    inner join (
        select
            operator,
            request_id,
            concat_ws('|', category, event, started_text, message) as item
        from {{ ref('staging_status') }}
        where {{ is_received_around(days_before=3, days_after=2) }}
        union
        select
            operator,
            request_id,
            news_id as item
        from {{ ref('staging_news') }}
        where {{ is_received_around(days_before=3, days_after=2) }}
    ) as items using (operator, request_id)
),

interrupted as (
    -- lacks more of what was listed before, and is listed again within a day, than it lists
    select
        neighbours.operator,
        neighbours.request_id
    from neighbours
    inner join listed
        on
            neighbours.operator = listed.operator
            and neighbours.endpoint = listed.endpoint
            and neighbours.key = listed.key
            and listed.next_received_at < listed.listed_again_at
            and listed.listed_again_at <= add_seconds(listed.received_at, 86400)
            and neighbours.received_at > listed.received_at
            and neighbours.received_at < listed.listed_again_at
    group by neighbours.operator, neighbours.request_id
    having count(*) > greatest(max(neighbours.n_rows), 1)
),

shrunk as (
    -- held back until the next answer is as short
    select
        neighbours.operator,
        neighbours.request_id
    from neighbours
    cross join {{ ref('inference_parameters') }} as parameters
    where
        neighbours.n_rows < {{ least_rows }}
        and coalesce(neighbours.n_rows_after >= {{ least_rows }}, true)
    union
    select
        operator,
        request_id
    from interrupted
),

judged as (
    select
        answers.*,
        case when shrunk.request_id is not null then 'shrunk' else answers.reading end as evidence
    from answers
    left join shrunk using (operator, request_id)
),

complete_dates as (
    select distinct
        {{ stream }},
        received_date
    from judged
    where evidence = 'complete'
),

beside_complete as (
    -- a complete answer of the stream is near: the one that lost rows need not stand for it
    select distinct
        judged.operator,
        judged.request_id
    from judged
    inner join complete_dates as complete
        on
            judged.operator = complete.operator
            and judged.endpoint = complete.endpoint
            and judged.key = complete.key
            and complete.received_date between judged.received_date - 2 and judged.received_date + 1
    where judged.evidence = 'partly_quarantined'
)

select
    judged.operator,
    judged.received_date,
    judged.service_date,
    judged.endpoint,
    judged.key,
    judged.request_id,
    judged.received_at,
    judged.n_rows,
    judged.n_kept,
    judged.evidence,
    -- the rows of which it is not known what they said; null where the answer proves nothing absent
    case
        when judged.evidence in ('complete', 'partly_quarantined') then greatest(judged.n_rows - judged.n_kept, 0)
    end as n_unread,
    -- of lists that are compared as a whole: whether the answer may stand for the list
    judged.evidence = 'complete' or judged.evidence = 'partly_quarantined' and beside_complete.request_id is null
        as is_whole_list
from judged
left join beside_complete using (operator, request_id)
where {{ is_received_around('judged.received_date') }}
