{{ config(meta={'date_column': 'found_date', 'days_around': 1}) }}
-- One row per operator, date, table and finding: something odd but possible in the answers, and what the models made of
-- it; of passages also when, at how many stops and lines, and in what share of the answers.
{%- set doubts = {
    "silence": "Too many stops list no bus, or no bus of a line, at once: no bus counts as gone.",
    "freeze": "Answers of a stop repeat what it listed minutes before: they say nothing.",
    "anonymous": "Live buses have no identifier of their own: none is observed, and no other counts as gone.",
    "shared_id": "An identifier is on several vehicles at once: it identifies nothing.",
    "single_id": "Identifiers are in one answer alone: they identify nothing.",
    "stuck": "Buses stay listed after they passed: when they passed is less sure.",
    "unlisted": "Buses leave the lists well before they pass: when they passed is less sure.",
    "repeated": "Live rows only repeat a timetable: they count as timetable rows.",
    "no_time": "An answer gives no plausible time of its own: its receipt counts instead.",
    "age": "An answer is over a minute old: it comes from a cache, and counts as of its own time.",
} %}
with doubted as (
    select
        *,
        case kind
            {%- for kind, words in doubts.items() %}
                when '{{ kind }}' then '{{ words }}'
            {%- endfor %}
        end as finding,
        concat_ws(', ', what, stop_code, nullif(plain_label, ''), told_at, received_at, request_id) as example
    from (
        select
            operator,
            received_date as found_date,
            'intermediate.passage_doubts' as found_in,
            reason as kind,
            request_id,
            received_at,
            cast(null as timestamp) as told_at,
            stop_code,
            plain_label,
            cast(null as string) as what
        from {{ ref('passage_doubts') }}
        where {{ is_received_around() }}
        union all
        select
            passages.operator,
            passages.received_date as found_date,
            'intermediate.doubtful_rows' as found_in,
            doubtful.reason as kind,
            passages.request_id,
            passages.received_at,
            cast(null as timestamp) as told_at,
            passages.stop_code,
            replace(passages.line_label, '/', '') as plain_label,
            passages.trip_id as what
        from {{ ref('staging_passages') }} as passages
        inner join {{ ref('doubtful_rows') }} as doubtful
            on
                passages.operator = doubtful.operator
                and passages.received_date = doubtful.received_date
                and passages.trip_id = doubtful.trip_id
                and {{ is_received_around('doubtful.received_date') }}
        where passages.is_theoretical is not true and {{ is_received_around('passages.received_date') }}
        union all
        -- a line that no stop lists all day
        select
            operator,
            service_date as found_date,
            'intermediate.scheduled_calls' as found_in,
            'silence' as kind,
            request_id,
            received_at,
            cast(null as timestamp) as told_at,
            stop_code,
            line_code as plain_label,
            cast(null as string) as what
        from (
            select
                calls.operator,
                calls.service_date,
                calls.line_code,
                calls.stop_code,
                polls.request_id,
                polls.received_at,
                parameters.silent_stops,
                {{ n_distinct_over(
                    'calls.stop_code', 'partition by calls.operator, calls.service_date, calls.line_code'
                ) }} as n_stops
            from {{ ref('scheduled_calls') }} as calls
            cross join {{ ref('inference_parameters') }} as parameters
            {{ join_proving_answers(
                'calls',
                "seconds_between(polls.polled_at, calls.scheduled_at)"
                ~ ' between 0 and parameters.silent_window_seconds'
            ) }}
            left join (
                select distinct
                    operator,
                    service_date,
                    line_code
                from {{ ref('line_candidates') }}
                where {{ is_received_around('service_date') }}
            ) as listed_lines
                on
                    calls.operator = listed_lines.operator
                    and calls.service_date = listed_lines.service_date
                    and calls.line_code = listed_lines.line_code
            where
                listed_lines.line_code is null
                and doubts.request_id is null
                and {{ is_received_around('calls.service_date') }}
        ) as unlisted_calls
        where n_stops >= silent_stops
        union all
        select
            operator,
            received_date as found_date,
            'staging.passages' as found_in,
            case when observed_at = received_at then 'no_time' else 'age' end as kind,
            request_id,
            received_at,
            case when observed_at = received_at then answered_at else observed_at end as told_at,
            stop_code,
            replace(line_label, '/', '') as plain_label,
            cast(null as string) as what
        from {{ ref('staging_passages') }}
        where
            (answered_at is distinct from observed_at or seconds_between(observed_at, received_at) > 60)
            and {{ is_received_around() }}
    ) as doubts
),

spans as (
    -- when, where and in what share of the answers about passages
    select
        doubts.operator,
        doubts.found_date,
        doubts.found_in,
        doubts.kind,
        doubts.finding,
        doubts.began_at,
        doubts.ended_at,
        doubts.n_stops,
        doubts.n_lines,
        cast(doubts.n_answers as double) / nullif(count(asked.request_id), 0) as answer_share
    from (
        select
            operator,
            found_date,
            found_in,
            kind,
            finding,
            min(received_at) as began_at,
            max(received_at) as ended_at,
            count(distinct stop_code) as n_stops,
            count(distinct nullif(plain_label, '')) as n_lines,
            count(distinct request_id) as n_answers
        from doubted
        group by operator, found_date, found_in, kind, finding
    ) as doubts
    left join {{ ref('staging_requests') }} as asked
        on
            doubts.operator = asked.operator
            and doubts.found_date = asked.received_date
            and {{ is_received_around('asked.received_date') }}
            and asked.received_at between doubts.began_at and doubts.ended_at
            and asked.endpoint = 'passages'
            and asked.is_good
    group by
        doubts.operator, doubts.found_date, doubts.found_in, doubts.kind, doubts.finding, doubts.began_at,
        doubts.ended_at, doubts.n_stops, doubts.n_lines, doubts.n_answers
),

found as (
    select
        operator,
        service_date as found_date,
        'core.requests' as found_in,
        'The clock was set while a request was under way.' as finding,
        concat_ws(', ', request_id, sent_at, received_at) as example
    from {{ ref('staging_requests') }}
    where
        abs(seconds_between(sent_at, received_at) - elapsed_ms / 1000) > 60
        and {{ is_received_around() }}
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
        abs(seconds_between(started_at, first_seen_at)) > 86400 * (
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
        found_date,
        found_in,
        finding,
        example
    from doubted
    union all
    select
        operator,
        service_date as found_date,
        'intermediate.unrecognised_dates' as found_in,
        case null_reason
            when 'lines unknown'
                then 'Of too much of what was seen the line is not known: figures of the date are null.'
            when 'stops out of order'
                then 'Too many buses pass the stops in another order than their list has: figures of the date are null.'
            else 'Too many buses that were seen run as no departure: figures of the date are null.'
        end as finding,
        concat_ws(', ', n_passages_unknown, n_out_of_order, n_passages, n_trips_unknown, n_trips) as example
    from {{ ref('unrecognised_dates') }}
    where {{ is_received_around('service_date') }}
    union all
    select
        operator,
        service_date as found_date,
        'intermediate.timetable_answers' as found_in,
        'A timetable no longer lists what was past when it was asked for: departures stay as they were listed before.'
            as finding,
        concat_ws(', ', line_code, request_id) as example
    from (
        select
            answers.*,
            departures.first_departure_at,
            min(departures.first_departure_at) over (
                partition by answers.operator, answers.service_date, answers.line_code
                order by answers.received_at, answers.request_id rows between unbounded preceding and 1 preceding
            ) as first_listed_at
        from {{ ref('timetable_answers') }} as answers
        inner join (
            select
                operator,
                request_id,
                min(departure_at) as first_departure_at
            from {{ ref('staging_timetables') }}
            where {{ is_received_around(days_before=15) }}
            group by operator, request_id
        ) as departures using (operator, request_id)
        where {{ is_received_around('answers.service_date') }}
    ) as compared
    where first_listed_at <= received_at and first_departure_at > received_at
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
    sums.operator,
    sums.found_date,
    sums.found_in,
    spans.kind,
    sums.finding,
    sums.n_rows,
    spans.began_at,
    spans.ended_at,
    spans.n_stops,
    nullif(spans.n_lines, 0) as n_lines,
    spans.answer_share,
    sums.example
from (
    select
        operator,
        found_date,
        found_in,
        finding,
        count(*) as n_rows,
        left(min(example), 200) as example
    from found
    group by operator, found_date, found_in, finding
) as sums
left join spans using (operator, found_date, found_in, finding)
