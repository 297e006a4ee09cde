{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, good answer about a stop and label that it should list but does not; with an empty label, that
-- it should list anything.
-- Stops stop listing a line with a destination, or anything, although they listed buses that were still to come: at as
-- many stops at once, that is a failure of the upstream and not of the buses. Or nothing is listed anywhere although
-- departures are due. A stop is silent from the first such answer until it lists the line again.
{%- set window_of = "cast(floor(microseconds(received_at) / (1e6 * silent_window_seconds)) as bigint)" %}
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

listed_ways as (
    -- what each answer listed by label and destination, and how many of these buses the next answer should have listed,
    -- too: one that comes twice has two rows
    select
        answers.operator,
        answers.stop_code,
        answers.answer_number,
        answers.window_number,
        coalesce(nullif(replace(passages.line_label, '/', ''), ''), '?') as plain_label,
        coalesce(passages.destination, '?') as way,
        count(
            distinct case
                when passages.predicted_at > add_seconds(answers.next_received_at, parameters.vanish_seconds)
                    then coalesce(passages.trip_id, concat_ws('', passages.predicted_at))
            end
        ) as n_expected
    from answers
    cross join {{ ref('inference_parameters') }} as parameters
    inner join {{ ref('staging_passages') }} as passages using (operator, request_id)
    where not coalesce(passages.is_wrapped, false) and {{ is_received_around('passages.received_date') }}
    group by answers.operator, answers.stop_code, answers.answer_number, answers.window_number, plain_label, way
),

listed as (
    select * from listed_ways
    union all
    select
        operator,
        stop_code,
        answer_number,
        window_number,
        '' as plain_label,
        '' as way,
        cast(sum(n_expected) as bigint) as n_expected
    from listed_ways
    group by operator, stop_code, answer_number, window_number
),

silences as (
    -- the answers of a stop between two that list the way
    select
        operator,
        stop_code,
        plain_label,
        way,
        answer_number + 1 as first_number,
        coalesce(next_number - 1, 9999999999) as last_number,
        n_expected
    from (
        select
            *,
            lead(answer_number) over (
                partition by operator, stop_code, plain_label, way order by answer_number
            ) as next_number
        from listed
    ) as listings
    where coalesce(next_number > answer_number + 1, true)
),

silent_windows as (
    select
        silences.operator,
        silences.plain_label,
        silences.way,
        answers.window_number,
        count(distinct silences.stop_code) as n_stops,
        count(distinct case when silences.n_expected > 1 then silences.stop_code end) as n_stops_of_several
    from silences
    inner join answers
        on
            silences.operator = answers.operator
            and silences.stop_code = answers.stop_code
            and answers.answer_number between silences.first_number and silences.last_number
    left join (
        select distinct
            operator,
            stop_code,
            answer_number,
            plain_label
        from listed
    ) as other_ways
        on
            silences.operator = other_ways.operator
            and silences.stop_code = other_ways.stop_code
            and silences.plain_label = other_ways.plain_label
            and answers.answer_number = other_ways.answer_number
    where silences.n_expected > 0 and other_ways.stop_code is null
    group by silences.operator, silences.plain_label, silences.way, answers.window_number
),

listing_windows as (
    select
        operator,
        plain_label,
        way,
        window_number,
        count(distinct stop_code) as n_stops
    from listed
    group by operator, plain_label, way, window_number
),

asked_windows as (
    select
        operator,
        window_number,
        count(distinct stop_code) as n_stops
    from answers
    group by operator, window_number
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
        silent_windows.way,
        silent_windows.window_number
    from silent_windows
    cross join {{ ref('inference_parameters') }} as parameters
    inner join asked_windows as asked using (operator, window_number)
    left join listing_windows as listing using (operator, plain_label, way, window_number)
    where
        silent_windows.n_stops >= parameters.silent_stops
        -- at night few stops list anything, so that a few cancelled buses would be many of these
        and silent_windows.n_stops
        >= case
            when silent_windows.plain_label = '' then parameters.silent_share * asked.n_stops
            else parameters.nearly_all_share * (silent_windows.n_stops + coalesce(listing.n_stops, 0))
        end
        -- one bus that is cancelled leaves the list of every stop, and another may come earlier than predicted to one
        and silent_windows.n_stops_of_several >= parameters.silent_stops
    union
    select
        due.operator,
        '' as plain_label,
        '' as way,
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
    -- also the answers before the first that lists the way, of stops that list it at all
    select * from silences
    union all
    select
        operator,
        stop_code,
        plain_label,
        way,
        1 as first_number,
        min(answer_number) - 1 as last_number,
        0 as n_expected
    from listed
    group by operator, stop_code, plain_label, way
),

doubted as (
    -- up to the last doubtful window of the silence
    select
        silences.operator,
        silences.stop_code,
        silences.plain_label,
        silences.way,
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
            and silences.way = windows.way
            and answers.window_number = windows.window_number
    group by silences.operator, silences.stop_code, silences.plain_label, silences.way, silences.first_number
    union all
    -- also the empty answers of stops that listed nothing before
    select
        answers.operator,
        answers.stop_code,
        windows.plain_label,
        windows.way,
        answers.answer_number as first_number,
        answers.answer_number as last_number
    from answers
    inner join doubtful_windows as windows
        on answers.operator = windows.operator and answers.window_number = windows.window_number
    where answers.n_rows = 0 and windows.plain_label = ''
)

select distinct
    answers.operator,
    answers.received_date,
    answers.request_id,
    answers.stop_code,
    answers.received_at,
    doubted.plain_label
from doubted
inner join answers
    on
        doubted.operator = answers.operator
        and doubted.stop_code = answers.stop_code
        and answers.answer_number between doubted.first_number and doubted.last_number
