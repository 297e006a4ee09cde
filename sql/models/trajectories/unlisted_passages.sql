{{ config(materialized=inlined()) }}
-- One row per due call whose stop answered without listing its trip, live elsewhere then: by when the bus had passed.
-- A stop lists every live bus that is about to come. So the bus had passed at the first answer that came shortly before
-- it was expected, or later. The trip was seen to pass a later stop, and was never listed live here.
with visits as (
    select * from {{ built('passing_times') }}
    where first_live_at is not null
),

live_times as (
    select
        trip_key,
        min(first_live_at) as live_from,
        max(passed_after) as live_until
    from visits
    group by trip_key
)

select
    calls.departure_key,
    calls.operator,
    calls.service_date,
    calls.position,
    min(polls.polled_at) as unlisted_at
from {{ built('due_calls') }} as calls
inner join {{ built('expected_delays') }} as expected using (operator, service_date, departure_key, position)
inner join live_times using (trip_key)
cross join {{ ref('inference_parameters') }} as parameters
{{ join_proving_answers('calls', 'polls.polled_at between live_times.live_from and live_times.live_until') }}
left join visits as listed on calls.trip_key = listed.trip_key and calls.stop_code = listed.stop_code
where
    expected.holdout = 0
    and expected.side in ('first_stop', 'before', 'between')
    and not calls.is_guessed
    and listed.trip_key is null
    and doubts.request_id is null
    and polls.polled_at
    > add_seconds(calls.scheduled_at, expected.expected_seconds - parameters.shortly_before_seconds)
group by calls.departure_key, calls.operator, calls.service_date, calls.position
