{{ config(materialized='view') }}
-- One row per operator and disruption of the service status that began on a date that is over: for how many minutes it
-- lasted as the status tells it, which may be late. Low and high are bounds, the figure is the middle between
-- them; one that has not ended lasted at least `low`.
with episodes as (
    select
        disruptions.*,
        coalesce(disruptions.event_meaning, disruptions.event, 'A disruption') as shown_event,
        coalesce(' of ' || nullif({{ joined_text('disruptions.lines', ', ') }}, ''), '') as shown_lines,
        disruptions.begun_before as from_at
    from {{ ref('disruptions') }} as disruptions
    inner join {{ source('quality', 'operators') }} as operators
        on
            disruptions.operator = operators.operator
            and cast(disruptions.first_seen_at as date) <= operators.closed_date
    where not disruptions.is_plant
),

figures as (
    select
        operator,
        episode_id,
        nullif({{ joined_text('lines', ', ') }}, '') as lines,
        shown_event as event,
        {{ minute_text('from_at') }} || '/' || coalesce({{ minute_text('ended_before') }}, '..') as period,
        cast(duration_low_seconds + duration_high_seconds as double) / 120 as figure,
        cast(duration_low_seconds as double) / 60 as low,
        cast(duration_high_seconds as double) / 60 as high,
        case
            when is_open then 'not ended'
            when duration_high_seconds is null then 'start unknown'
        end as null_reason,
        shown_event || shown_lines || ' lasted ' as words_before,
        '' as words_after,
        'how long ' || shown_event || shown_lines || ' lasts' as question,
        'from ' || {{ minute_text('from_at') }} || ' on' as when_words,
        'the service status may tell it late'
        || coalesce(
            '; cause given: ' || cause, '; the message tells of ' || nullif(cause_class, 'unknown'), ''
        ) as note
    from episodes
)

{{ headline(
    ['lines', 'event', 'period'], 'minutes', 1, 1, 'min', is_certain=true, is_covered=false, last_columns=['episode_id']
) }}
