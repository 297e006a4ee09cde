-- One row per operator, service_date, line, direction and change: departures that an answer about the timetable added
-- or withdrew, or of which it edited the sign or the service. The first answer about a line and date is no change.
{%- set line_day = "operator, service_date, line_code, direction" %}
with departures as (
    select
        *,
        min(valid_from) over (partition by operator, service_date, line_code) as first_promised_at,
        -- a validity that begins when another of the same departure ends is an edit
        coalesce(valid_from = lag(valid_to) over departure, false) as is_edited,
        coalesce(valid_to = lead(valid_from) over departure, false) as is_edited_later
    from {{ built('timetable_departures') }}
    window departure as (
        partition by operator, service_date, line_code, direction, departure_at, repeat_number order by valid_from
    )
),

changes as (
    -- with what the first answer added, because later ones change that
    select
        *,
        valid_from as changed_at,
        case when is_edited then 'edited' else 'added' end as change
    from departures
    union all
    select
        *,
        valid_to as changed_at,
        'withdrawn' as change
    from departures
    where valid_to is not null and not is_edited_later
),

sums as (
    select
        {{ line_day }},
        changed_at,
        min(first_promised_at) as first_promised_at,
        count(case when change = 'added' then 1 end) as n_added,
        count(case when change = 'withdrawn' then 1 end) as n_withdrawn,
        count(case when change = 'withdrawn' and departure_at <= changed_at then 1 end) as n_withdrawn_after_due,
        count(case when change = 'edited' then 1 end) as n_edited,
        min(departure_at) as first_departure_at,
        max(departure_at) as last_departure_at
    from changes
    group by {{ line_day }}, changed_at
),

promised as (
    select
        *,
        cast(sum(n_added - n_withdrawn) over (partition by {{ line_day }} order by changed_at) as bigint) as n_promised
    from sums
)

select
    {{ line_day }},
    changed_at,
    first_promised_at,
    n_added,
    n_withdrawn,
    n_withdrawn_after_due,
    n_edited,
    n_promised - n_added + n_withdrawn as n_promised_before,
    n_promised,
    first_departure_at,
    last_departure_at
from promised
where changed_at > first_promised_at
