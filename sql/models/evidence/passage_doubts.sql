{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, good answer about a stop and label whose absence from it proves nothing, and why; with an empty
-- label, an answer that proves nothing at all.
-- `anonymous`: it lists a bus of the line without an identifier of its own (doubtful_rows), which may be any.
-- `silence`: stops stop listing a line, or anything, although they listed buses that were still to come; at as many
-- stops at once, that is a failure of the upstream and not of the buses. Or nothing is listed anywhere although
-- departures are due. A stop is silent from the first such answer until it lists the line again.
{%- set window_of = "cast(floor(" ~ microseconds("received_at") ~ " / (1e6 * silent_window_seconds)) as bigint)" %}
with answers as (
    select
        requests.operator,
        requests.received_date,
        requests.request_id,
        requests.key as stop_code,
        requests.received_at,
        requests.n_rows,
        {{ window_of }} as window_number,
        row_number() over stop_answers as answer_number,
        lead(requests.received_at) over stop_answers as next_received_at
    from {{ ref('staging_requests') }} as requests
    cross join {{ ref('inference_parameters') }}
    where
        requests.endpoint = 'passages'
        and requests.is_good
        and requests.n_rows is not null
        and {{ is_received_around('requests.received_date') }}
    window stop_answers as (
        partition by requests.operator, requests.key order by requests.received_at, requests.request_id
    )
),

listed_labels as (
    -- what each answer listed by label, and how many of these rows the next answer should have listed, too
    select
        answers.operator,
        answers.stop_code,
        answers.answer_number,
        answers.window_number,
        coalesce(replace(passages.line_label, '/', ''), '?') as plain_label,
        count(
            case
                when passages.predicted_at > {{ add_seconds('answers.next_received_at', 'parameters.vanish_seconds') }}
                    then 1
            end
        ) as n_expected
    from answers
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ ref('staging_passages') }} as passages using (operator, request_id)
    where not coalesce(passages.is_wrapped, false) and {{ is_received_around('passages.received_date') }}
    group by answers.operator, answers.stop_code, answers.answer_number, answers.window_number, plain_label
),

listed as (
    select * from listed_labels
    union all
    select
        operator,
        stop_code,
        answer_number,
        window_number,
        '' as plain_label,
        cast(sum(n_expected) as bigint) as n_expected
    from listed_labels
    group by operator, stop_code, answer_number, window_number
),

silences as (
    -- the answers of a stop between two that list the label
    select
        operator,
        stop_code,
        plain_label,
        answer_number + 1 as first_number,
        coalesce(next_number - 1, 9999999999) as last_number,
        n_expected
    from (
        select
            *,
            lead(answer_number) over (
                partition by operator, stop_code, plain_label order by answer_number
            ) as next_number
        from listed
    ) as listings
    where coalesce(next_number > answer_number + 1, true)
),

silent_windows as (
    select
        silences.operator,
        silences.plain_label,
        answers.window_number,
        count(distinct silences.stop_code) as n_stops,
        max(silences.n_expected) as n_expected
    from silences
    inner join answers
        on
            silences.operator = answers.operator
            and silences.stop_code = answers.stop_code
            and answers.answer_number between silences.first_number and silences.last_number
    where silences.n_expected > 0
    group by silences.operator, silences.plain_label, answers.window_number
),

listing_windows as (
    select
        operator,
        plain_label,
        window_number,
        count(distinct stop_code) as n_stops
    from listed
    group by operator, plain_label, window_number
),

due_windows as (
    -- how many stops were asked while a departure of a line of theirs was due
    select
        departures.operator,
        departures.window_number,
        count(distinct answers.stop_code) as n_stops
    from (
        select distinct
            timetables.operator,
            timetables.line_code,
            {{ window_of | replace("received_at", "timetables.departure_at") }} as window_number
        from {{ ref('staging_timetables') }} as timetables
        cross join {{ ref('inference_parameters') }}
        where
            {{ is_built('timetables.service_date') }}
            and {{ is_received_around('timetables.received_date', days_before=15) }}
    ) as departures
    inner join (
        select distinct
            operator,
            line_code,
            stop_code
        from {{ ref('staging_line_stops') }}
        where {{ is_received_around(days_before=15) }}
    ) as line_stops using (operator, line_code)
    inner join answers using (operator, stop_code, window_number)
    group by departures.operator, departures.window_number
),

doubtful_windows as (
    select
        silent_windows.operator,
        silent_windows.plain_label,
        silent_windows.window_number
    from silent_windows
    cross join {{ ref('inference_parameters') }} as parameters
    left join listing_windows as listing using (operator, plain_label, window_number)
    where
        silent_windows.n_stops >= parameters.silent_stops
        and silent_windows.n_stops
        >= case
            when silent_windows.plain_label = '' then parameters.silent_share else parameters.silent_line_share
        end * (silent_windows.n_stops + coalesce(listing.n_stops, 0))
        -- one bus that is cancelled leaves the list of every stop
        and silent_windows.n_expected > 1
    union
    select
        due.operator,
        '' as plain_label,
        due.window_number
    from due_windows as due
    cross join {{ ref('inference_parameters') }} as parameters
    left join listing_windows as listing
        on
            due.operator = listing.operator
            and due.window_number = listing.window_number
            and listing.plain_label = ''
    where listing.window_number is null and due.n_stops >= parameters.silent_stops
),

stop_silences as (
    -- also the answers before the first that lists the label, of stops that list it at all
    select * from silences
    union all
    select
        operator,
        stop_code,
        plain_label,
        1 as first_number,
        min(answer_number) - 1 as last_number,
        0 as n_expected
    from listed
    group by operator, stop_code, plain_label
),

doubted as (
    -- up to the last doubtful window of the silence
    select
        silences.operator,
        silences.stop_code,
        silences.plain_label,
        silences.first_number,
        max(answers.answer_number) as last_number
    from stop_silences as silences
    inner join answers
        on
            silences.operator = answers.operator
            and silences.stop_code = answers.stop_code
            and answers.answer_number between silences.first_number and silences.last_number
    inner join doubtful_windows as windows
        on
            silences.operator = windows.operator
            and silences.plain_label = windows.plain_label
            and answers.window_number = windows.window_number
    group by silences.operator, silences.stop_code, silences.plain_label, silences.first_number
),

silent_answers as (
    select
        answers.*,
        doubted.plain_label
    from doubted
    inner join answers
        on
            doubted.operator = answers.operator
            and doubted.stop_code = answers.stop_code
            and answers.answer_number between doubted.first_number and doubted.last_number
    union all
    -- also those of stops that listed nothing before
    select
        answers.*,
        windows.plain_label
    from answers
    inner join doubtful_windows as windows
        on answers.operator = windows.operator and answers.window_number = windows.window_number
    where answers.n_rows = 0 and windows.plain_label = ''
)

select
    operator,
    received_date,
    request_id,
    stop_code,
    received_at,
    plain_label,
    'silence' as reason
from silent_answers
union
select
    passages.operator,
    passages.received_date,
    passages.request_id,
    passages.stop_code,
    passages.received_at,
    replace(passages.line_label, '/', '') as plain_label,
    'anonymous' as reason
from {{ ref('staging_passages') }} as passages
left join {{ ref('doubtful_rows') }} as shared
    on
        passages.operator = shared.operator
        and passages.received_date = shared.received_date
        and passages.trip_id = shared.trip_id
        and {{ is_received_around('shared.received_date') }}
where
    passages.is_theoretical is not true
    and (passages.trip_id is null or shared.trip_id is not null)
    and passages.line_label is not null
    and {{ is_received_around('passages.received_date') }}
