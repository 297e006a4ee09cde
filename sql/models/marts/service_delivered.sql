-- One row per operator, service_date, line and direction: departures in force by outcome.
-- Only dates on which passages were requested: on others nothing could be observed. On a date in progress a departure
-- counts once it is due.
{%- set line_day = "operator, service_date, line_code, direction" %}
with departures as (
    select
        departures.*,
        coalesce(departures.departure_at <= last_answers.last_received_at, false) as is_due
    from {{ built('scheduled_departures') }} as departures
    inner join {{ watched_dates() }} as watched_dates using (operator, service_date)
    left join {{ last_answers() }} as last_answers using (operator)
    where departures.is_in_force
),

leg_lengths as (
    select
        {{ line_day }},
        leg,
        count(*) as n_stops
    from {{ built('leg_stops') }}
    where not is_rare
    group by {{ line_day }}, leg
),

counts as (
    select
        {{ line_day }},
        count(case when is_due then 1 end) as n_scheduled_trips,
        {%- for outcome in ["run", "tracking_lost", "never_tracked", "not_run", "not_observable"] %}
            count(case when is_due and outcome = '{{ outcome }}' then 1 end) as n_{{ outcome }},
        {%- endfor %}
        cast(coalesce(sum(case when is_due and outcome = 'not_run' then n_stops end), 0) as bigint)
            as n_passages_not_run,
        count(case when not is_due then 1 end) as n_not_yet_due,
        max(ruleset_version) as ruleset_version
    from departures
    left join leg_lengths using ({{ line_day }}, leg)
    group by {{ line_day }}
    having n_scheduled_trips > 0
)

select
    *,
    n_not_yet_due = 0 as is_complete,
    -- bounds: what certainly ran, and all but what certainly did not
    cast(n_run as double) / n_scheduled_trips as delivered_share_low,
    cast(n_scheduled_trips - n_not_run as double) / n_scheduled_trips as delivered_share_high
from counts
