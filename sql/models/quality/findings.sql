{{ config(meta={'date_column': 'found_date', 'days_around': 1}) }}
-- One row per operator, date, table and finding: something odd but possible in the answers, and what the models made of
-- it.
with found as (
    select
        operator,
        service_date as found_date,
        'core.requests' as found_in,
        'The clock was set while a request was under way.' as finding,
        concat_ws(', ', request_id, sent_at, received_at) as example
    from {{ ref('requests') }}
    where
        abs({{ seconds_between('sent_at', 'received_at') }} - elapsed_ms / 1000) > 60
        and {{ is_received_around('service_date') }}
    union all
    select
        operator,
        service_date as found_date,
        'core.stop_visits' as found_in,
        'Upstream identifies a trip as we name trips: its identifier stands in quotes.' as finding,
        concat_ws(', ', listed_trip_id, stop_code) as example
    from {{ ref('stop_visits') }}
    where listed_trip_id != {{ listed_id_of('listed_trip_id') }} and {{ is_received_around('service_date') }}
    union all
    select
        operator,
        cast(last_seen_at as date) as found_date,
        'core.status_episodes' as found_in,
        'An event was withdrawn before its announced start: it lasted for no time.' as finding,
        concat_ws(', ', category, event, lines_text, started_at) as example
    from {{ ref('status_episodes') }}
    where ended_before < started_at and {{ is_received_around('cast(last_seen_at as date)') }}
    union all
    select
        operator,
        cast(last_seen_at as date) as found_date,
        'core.status_episodes' as found_in,
        'An event is said to have started long before or after it was listed: it counts from the first answer with it.'
            as finding,
        concat_ws(', ', category, event, lines_text, started_at) as example
    from {{ ref('status_episodes') }}
    where
        abs({{ seconds_between('started_at', 'first_seen_at') }}) > 86400 * (
            select parameters.implausible_start_days from {{ ref('inference_parameters') }} as parameters
        )
        and {{ is_received_around('cast(last_seen_at as date)') }}
    union all
    select
        operator,
        cast(named_to as date) as found_date,
        'core.status_episode_lines' as found_in,
        'An event names a line that is not known: it counts for no line.' as finding,
        named as example
    from {{ ref('status_episode_lines') }}
    where line_code is null and not is_plant and {{ is_received_around('cast(named_to as date)') }}
    union all
    select
        operator,
        received_date as found_date,
        'intermediate.answer_evidence' as found_in,
        case evidence
            when 'shrunk' then 'An answer has far fewer rows than those beside it: nothing counts as gone.'
            when 'partly_quarantined'
                then 'An answer lost rows to quarantine: nothing that it does not list counts as gone.'
            else 'No row of an answer could be read: it says nothing.'
        end as finding,
        concat_ws(', ', endpoint, key, request_id) as example
    from {{ ref('answer_evidence') }}
    where evidence != 'complete' and {{ is_received_around() }}
    union all
    select
        operator,
        received_date as found_date,
        'staging.status' as found_in,
        'The start of an event cannot be read: the first answer with the event counts instead.' as finding,
        concat_ws(', ', category, event, started_text) as example
    from {{ ref('staging_status') }}
    where started_at is null and {{ is_received_around() }}
    union all
    select
        operator,
        received_date as found_date,
        'staging.passages' as found_in,
        'An answer gives no plausible time of its own: its receipt counts instead.' as finding,
        concat_ws(', ', stop_code, answered_at, observed_at) as example
    from {{ ref('staging_passages') }}
    where answered_at is distinct from observed_at and {{ is_received_around() }}
    union all
    select
        operator,
        received_date as found_date,
        'staging.line_stops' as found_in,
        'A line has more than two directions: the stops of the further ones are not published.' as finding,
        concat_ws(', ', line_code, direction_key) as example
    from (
        select
            *,
            {{ published_direction_key() }} as published_key
        from {{ ref('staging_line_stops') }}
        where {{ is_received_around() }}
    ) as stops
    where direction_key != published_key
    union all
    select
        texts.operator,
        texts.received_date as found_date,
        'intermediate.news_texts' as found_in,
        'The text of a news item came that no list of news had: it is not published.' as finding,
        texts.news_id as example
    from {{ ref('news_texts') }} as texts
    left join {{ ref('news') }} as news using (operator, news_id)
    where news.news_id is null and {{ is_received_around('texts.received_date') }}
)

select
    operator,
    found_date,
    found_in,
    finding,
    count(*) as n_rows,
    left(min(example), 200) as example
from found
group by operator, found_date, found_in, finding
