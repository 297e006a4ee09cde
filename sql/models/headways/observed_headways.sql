-- One row per operator, service_date, line, direction, stop and pair of buses observed one after the other: the headway
-- between them, and the headways scheduled between the same two.
-- A headway counts only if the stop was polled without a gap from one bus to the next and no other bus of the line can
-- have passed unobserved between them: a missed poll must not read as a missed bus.
{%- set line_stop = "operator, service_date, line_code, direction, stop_code" %}
{%- set in_schedule = "partition by " ~ line_stop
    ~ " order by scheduled_at, service_hour, trip_id nulls last, visit_number nulls last" %}
{%- set in_order = "partition by " ~ line_stop
    ~ " order by expected_at, scheduled_at nulls last, trip_id, visit_number" %}
with visits as (
    select
        *,
        coalesce(passed_at, scheduled_at) as expected_at,
        arrival_quality in ('evidenced', 'bounded') as is_observed
    from {{ built('stop_visits') }}
    where line_code is not null and position is not null
),

scheduled_buses as (
    select
        {{ line_stop }},
        service_hour,
        scheduled_at,
        visit_key,
        trip_id,
        visit_number
    from visits
    where scheduled_at is not null
    union all
    select
        {{ line_stop }},
        service_hour,
        scheduled_at,
        null as visit_key,
        null as trip_id,
        null as visit_number
    from {{ built('unlisted_departures') }}
),

scheduled_headways as (
    select
        *,
        round(seconds_between(lag(scheduled_at) over stop_buses, scheduled_at)) as headway_seconds
    from scheduled_buses
    window stop_buses as (
        {{ in_schedule }}
    )
),

scheduled_sums as (
    -- of the scheduled headways from the first bus of the day to each bus
    select
        visit_key,
        count(headway_seconds) over so_far as n_scheduled,
        coalesce(sum(headway_seconds) over so_far, 0) as scheduled_seconds,
        coalesce(sum(headway_seconds * headway_seconds) over so_far, 0) as scheduled_squares
    from scheduled_headways
    window so_far as (
        {{ in_schedule }}
        rows between unbounded preceding and current row
    )
),

headways as (
    -- from the bus before to each bus, with the sums up to the latest scheduled bus that has passed: a late bus may be
    -- overtaken by the next
    select
        visits.*,
        is_observed and lag(is_observed) over stop_buses as is_headway_observed,
        lag(passed_after) over stop_buses as previous_passed_after,
        lag(passed_at) over stop_buses as previous_passed_at,
        {%- for sum in ["n_scheduled", "scheduled_seconds", "scheduled_squares"] %}
            (max(sums.{{ sum }}) over so_far) - (max(sums.{{ sum }}) over before) as {{ sum }},
        {%- endfor %}
        round(seconds_between(lag(passed_at) over stop_buses, passed_at)) as headway_seconds
    from visits
    left join scheduled_sums as sums using (visit_key)
    window
        stop_buses as ({{ in_order }}),
        so_far as ({{ in_order }} rows between unbounded preceding and current row),
        before as ({{ in_order }} rows between unbounded preceding and 1 preceding)
)

select
    {{ line_stop }},
    service_hour,
    trip_id,
    visit_number,
    headway_seconds,
    n_scheduled,
    scheduled_seconds,
    scheduled_squares,
    ruleset_version
from headways
where
    is_headway_observed
    -- a mean scheduled headway of over an hour is a break in service, not a wait
    and coalesce(scheduled_seconds <= 3600 * n_scheduled, true)
    and exists (
        select 1
        from {{ ref('polled_stretches') }} as stretches
        where
            headways.operator = stretches.operator
            and headways.stop_code = stretches.stop_code
            and headways.previous_passed_after >= stretches.polled_from
            and headways.passed_before <= stretches.polled_to
    )
    and not exists (
        select 1
        from {{ ref('unobserved_passages') }} as unobserved
        where
            headways.operator = unobserved.operator
            and headways.service_date = unobserved.service_date
            and headways.stop_code = unobserved.stop_code
            and coalesce(unobserved.line_code, headways.line_code) = headways.line_code
            and coalesce(unobserved.direction, headways.direction) = headways.direction
            and unobserved.earliest_at <= headways.passed_at
            and unobserved.latest_at >= headways.previous_passed_at
    )
