{{ config(materialized=inlined()) }}
-- One row per passage listed in a good answer around the service dates being built, with the id its stop listed it by,
-- if that identifies anything (doubtful_rows).
-- Ephemeral, because there are millions a day.
select
    polls.operator,
    polls.stop_code,
    polls.poll_number,
    polls.polled_at,
    1000000 * polls.poll_number + passages.row_number as listing_number,
    -- an anonymous row gets an id made of its label and timetable time
    coalesce(
        case
            when coalesce(ids.reason not in ('shared_id', 'single_id'), true)
                then {{ listed_id_of('passages.trip_id') }}
        end,
        case
            when passages.is_theoretical
                then '@' || passages.line_label || '@' || cast(passages.predicted_at as string)
        end
    ) as listed_id,
    coalesce(passages.destination, '') as destination_text,
    passages.line_label,
    replace(passages.line_label, '/', '') as plain_label,
    passages.is_slash_variant,
    passages.destination,
    passages.predicted_at,
    passages.service_date,
    passages.service_hour,
    passages.is_full,
    coalesce(passages.is_theoretical or ids.reason = 'repeated', false) as is_theoretical,
    coalesce(ids.reason = 'stuck', false) as is_stuck,
    ids.lead_seconds,
    coalesce(passages.is_wrapped, false) as is_wrapped
from {{ ref('staging_passages') }} as passages
inner join {{ ref('stop_polls') }} as polls using (operator, request_id)
left join {{ ref('doubtful_rows') }} as ids
    on
        passages.operator = ids.operator
        and passages.received_date = ids.received_date
        and passages.trip_id = ids.trip_id
        and {{ is_received_around('ids.received_date') }}
where
    passages.predicted_at is not null
    and {{ is_received_around('passages.received_date') }}
    and {{ is_received_around('polls.received_date') }}
