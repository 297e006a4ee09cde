-- One row per operator, service_date, line, direction, what it is compared with, and instant: how many departures an
-- answer about the timetable changed, and how many were promised before and after (timetable_changes).
{%- set line_day = "operator, service_date, line_code, direction" %}
with counts as (
    select
        {{ line_day }},
        compared_with,
        compared_date,
        changed_at,
        max(unchanged_at) as unchanged_at,
        {%- for change in ["added", "removed", "moved", "edited"] %}
            count(case when change = '{{ change }}' then 1 end) as n_{{ change }},
        {%- endfor %}
        count(case when change = 'removed' and departure_at <= changed_at then 1 end) as n_removed_after_due,
        {%- for notice in ["after_the_fact", "under_24_h", "under_7_days", "longer"] %}
            count(case when change != 'edited' and notice_class = '{{ notice }}' then 1 end) as n_{{ notice }},
        {%- endfor %}
        count(case when change != 'edited' and notice_class is null then 1 end) as n_notice_unknown,
        min(departure_at) as first_departure_at,
        max(departure_at) as last_departure_at
    from {{ built('timetable_changes') }}
    group by {{ line_day }}, compared_with, compared_date, changed_at
),

promised as (
    select
        counts.operator,
        counts.service_date,
        counts.line_code,
        counts.direction,
        counts.compared_with,
        counts.changed_at,
        count(departures.departure_key) as n_promised
    from counts
    left join {{ built('timetable_departures') }} as departures
        on
            counts.operator = departures.operator
            and counts.service_date = departures.service_date
            and counts.line_code = departures.line_code
            and counts.direction = departures.direction
            and counts.changed_at >= departures.valid_from
            and coalesce(counts.changed_at < departures.valid_to, true)
    group by
        counts.operator, counts.service_date, counts.line_code, counts.direction, counts.compared_with,
        counts.changed_at
)

select
    counts.*,
    promised.n_promised - counts.n_added + counts.n_removed as n_promised_before,
    promised.n_promised
from counts
inner join promised using ({{ line_day }}, compared_with, changed_at)
