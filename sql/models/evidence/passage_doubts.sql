{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, good answer about a stop and label whose absence from it proves nothing, and why; with an empty
-- label, an answer that proves nothing at all.
-- `silence`: of silent_answers.
-- `freeze`: it lists the same buses with the same waits as at least two answers before it, the first of them minutes
-- ago: three minutes for three buses, longer for two, more than one for many. Waits are of whole minutes, and at least
-- one of several changes meanwhile.
-- `anonymous`: it lists a bus of the line without an identifier of its own (doubtful_rows), which may be any.
with contents as (
    select
        operator,
        request_id,
        stop_code,
        received_date,
        received_at,
        count(*) as n_rows,
        count(trip_id) as n_identified,
        array_sort(collect_set(concat_ws(' ', row_number, wait_minutes, trip_id, line_label, is_theoretical)))
            as content
    from {{ ref('staging_passages') }}
    where {{ is_received_around() }}
    group by operator, request_id, stop_code, received_date, received_at
),

repeats as (
    select
        *,
        sum(is_new) over (partition by operator, stop_code order by received_at, request_id) as run_number
    from (
        select
            *,
            case when content = lag(content) over stop_answers then 0 else 1 end as is_new
        from contents
        window stop_answers as (partition by operator, stop_code order by received_at, request_id)
    ) as compared
),

frozen_answers as (
    select repeats.*
    from (
        select
            *,
            first_value(received_at) over run as first_received_at,
            row_number() over run as number_in_run
        from repeats
        window run as (partition by operator, stop_code, run_number order by received_at, request_id)
    ) as repeats
    cross join {{ ref('inference_parameters') }} as parameters
    where
        repeats.n_rows > 1
        -- waits of a timetable alone recur each hour
        and repeats.n_identified > 0
        and repeats.number_in_run > 2
        -- the waits of a timetable change all at once, once a minute
        and seconds_between(repeats.first_received_at, repeats.received_at)
        > greatest(60, 3 * parameters.stuck_seconds / repeats.n_rows)
),

doubts as (
    select
        operator,
        received_date,
        request_id,
        stop_code,
        received_at,
        plain_label,
        'silence' as reason
    from {{ ref('silent_answers') }}
    where {{ is_received_around() }}
    union all
    select
        operator,
        received_date,
        request_id,
        stop_code,
        received_at,
        '' as plain_label,
        'freeze' as reason
    from frozen_answers
    union all
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
            and shared.reason in ('shared_id', 'single_id')
            and {{ is_received_around('shared.received_date') }}
    where
        passages.is_theoretical is not true
        and (passages.trip_id is null or shared.trip_id is not null)
        -- a label without any name would stand for the whole answer
        and replace(passages.line_label, '/', '') != ''
        and {{ is_received_around('passages.received_date') }}
)

select
    operator,
    received_date,
    request_id,
    stop_code,
    received_at,
    plain_label,
    max(reason) as reason
from doubts
group by operator, received_date, request_id, stop_code, received_at, plain_label
