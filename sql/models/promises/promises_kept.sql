-- One row per operator, service_date, line and direction: what became of the departures that the timetable promised at
-- 18:00 of the day before (promised_departures). Only dates on which passages were requested; on a date in progress a
-- departure counts once it is due. Null where no answer about the timetable was known by then.
{%- set line_day = "operator, service_date, line_code, direction" %}
with promises as (
    select
        promises.*,
        scheduled.outcome as moved_to_outcome
    from {{ built('promised_departures') }} as promises
    inner join {{ watched_dates() }} as watched_dates using (operator, service_date)
    inner join {{ last_answers() }} as last_answers using (operator)
    left join {{ built('scheduled_departures') }} as scheduled on promises.moved_to_key = scheduled.departure_key
    where greatest(promises.departure_at, promises.moved_to_at) <= last_answers.last_received_at
),

fates as (
    select
        *,
        is_promised_day_before = is_promise_certain as is_promised_by_next_answer,
        case when fate = 'run' or moved_to_outcome = 'run' then 1 else 0 end as is_delivered_low,
        case when fate in ('not_run', 'withdrawn') or moved_to_outcome = 'not_run' then 0 else 1 end
            as is_delivered_high
    from promises
),

counts as (
    select
        {{ line_day }},
        max(promise_at) as promise_at,
        max(null_reason) as null_reason,
        count(case when is_promised_day_before then 1 end) as n_promised,
        {%- for fate in ["run", "not_run", "not_observable", "withdrawn", "moved"] %}
            count(case when is_promised_day_before and fate = '{{ fate }}' then 1 end) as n_{{ fate }},
        {%- endfor %}
        count(case when is_promised_day_before and moved_to_outcome = 'run' then 1 end) as n_moved_run,
        count(case when is_promised_day_before and moved_to_outcome = 'not_run' then 1 end) as n_moved_not_run,
        avg(case when is_promised_day_before then is_delivered_low end) as last_low,
        avg(case when is_promised_day_before then is_delivered_high end) as last_high,
        avg(case when is_promised_by_next_answer then is_delivered_low end) as next_low,
        avg(case when is_promised_by_next_answer then is_delivered_high end) as next_high
    from fates
    group by {{ line_day }}
    having null_reason is not null or n_promised > 0
)

select
    {{ line_day }},
    promise_at,
    null_reason,
    {%- for count in [
        "n_promised", "n_run", "n_not_run", "n_not_observable", "n_withdrawn", "n_moved", "n_moved_run", "n_moved_not_run"
    ] %}
        case when null_reason is null then {{ count }} end as {{ count }},
    {%- endfor %}
    -- bounds: what certainly ran, at its time or another, and all but what certainly did not. The timetable of 18:00 is
    -- that of the last answer before it, or that of the next one.
    case when null_reason is null then least(last_low, next_low) end as delivered_share_low,
    case when null_reason is null then greatest(last_high, next_high) end as delivered_share_high
from counts
