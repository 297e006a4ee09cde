{{ config(meta={'date_column': 'received_date', 'days_around': 1}) }}
-- One row per operator, UTC day of receipt and identifier, or label, whose live rows are not what they say, and why.
-- `shared_id`: the identifier is on several vehicles, so that it identifies none. A vehicle goes one way for a whole
-- trip: of two stops that it is about to pass within two minutes, most show the same line and destination.
-- `repeated`: the live rows of the label only repeat a timetable, so that they are no observations. A prediction
-- changes on the way, by seconds at least; here nearly all buses were listed for minutes with the same instant.
with due_rows as (
    -- live rows of buses that are about to pass
    select
        passages.operator,
        passages.received_date,
        passages.trip_id,
        passages.stop_code,
        passages.line_label || '|' || coalesce(passages.destination, '') as way,
        max(passages.predicted_at) as predicted_at
    from {{ ref('staging_passages') }} as passages
    cross join {{ ref('inference_parameters') }} as parameters
    where
        passages.is_theoretical is not true
        and passages.trip_id is not null
        and {{ seconds_between('passages.observed_at', 'passages.predicted_at') }}
        between -parameters.past_tolerance_seconds and parameters.shared_id_seconds
        and {{ is_received_around('passages.received_date') }}
    group by
        passages.operator, passages.received_date, passages.trip_id, passages.stop_code, way,
        cast(floor({{ microseconds('passages.predicted_at') }} / (1e6 * parameters.live_gap_seconds)) as bigint)
),

steps as (
    select
        *,
        {{ seconds_between('lag(predicted_at) over one_id', 'predicted_at') }} as step_seconds,
        way = lag(way) over one_id as is_same_way
    from due_rows
    window one_id as (partition by operator, received_date, trip_id order by predicted_at, stop_code, way)
),

shared_ids as (
    select
        steps.operator,
        steps.received_date,
        steps.trip_id,
        count(*) as n_compared,
        count(case when not steps.is_same_way then 1 end) as n_doubtful
    from steps
    cross join {{ ref('inference_parameters') }} as parameters
    where steps.step_seconds <= parameters.shared_id_seconds
    group by steps.operator, steps.received_date, steps.trip_id
    having
        count(*) >= max(parameters.shared_id_steps)
        and count(case when not steps.is_same_way then 1 end) >= max(parameters.shared_id_share) * count(*)
),

visits as (
    select
        passages.operator,
        passages.received_date,
        replace(passages.line_label, '/', '') as plain_label,
        min(passages.predicted_at) = max(passages.predicted_at) as is_same
    from {{ ref('staging_passages') }} as passages
    cross join {{ ref('inference_parameters') }} as parameters
    where
        passages.is_theoretical is not true
        and passages.trip_id is not null
        and passages.line_label is not null
        and not coalesce(passages.is_wrapped, false)
        and {{ is_received_around('passages.received_date') }}
    group by
        passages.operator, passages.received_date, plain_label, passages.stop_code, passages.trip_id,
        passages.destination
    having
        count(*) >= 3
        and {{ seconds_between('min(passages.observed_at)', 'max(passages.observed_at)') }}
        > max(parameters.stuck_seconds)
),

repeated_labels as (
    select
        operator,
        received_date,
        plain_label,
        count(*) as n_compared,
        count(case when is_same then 1 end) as n_doubtful
    from visits
    cross join {{ ref('inference_parameters') }} as parameters
    group by operator, received_date, plain_label
    having
        count(*) >= max(parameters.repeated_visits)
        and count(case when is_same then 1 end) >= max(parameters.repeated_share) * count(*)
)

select
    operator,
    received_date,
    trip_id,
    cast(null as string) as plain_label,
    'shared_id' as reason,
    n_compared,
    n_doubtful
from shared_ids
union all
select
    operator,
    received_date,
    cast(null as string) as trip_id,
    plain_label,
    'repeated' as reason,
    n_compared,
    n_doubtful
from repeated_labels
