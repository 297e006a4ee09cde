-- One row per operator, service_date, line and direction: departures in force by outcome.
-- Only dates on which passages were requested: on others nothing could be observed. On a date in progress a departure
-- counts once it is due.
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
        operator,
        service_date,
        line_code,
        direction,
        leg,
        count(*) as n_stops
    from {{ built('leg_stops') }}
    group by operator, service_date, line_code, direction, leg
),

counts as (
    select
        operator,
        service_date,
        line_code,
        direction,
        count(case when departures.is_due then 1 end) as n_scheduled_trips,
        count(case when departures.is_due and departures.outcome = 'run' then 1 end) as n_run,
        count(case when departures.is_due and departures.outcome = 'tracking_lost' then 1 end) as n_tracking_lost,
        count(case when departures.is_due and departures.outcome = 'never_tracked' then 1 end) as n_never_tracked,
        count(case when departures.is_due and departures.outcome = 'not_run' then 1 end) as n_not_run,
        count(case when departures.is_due and departures.outcome = 'not_observable' then 1 end) as n_not_observable,
        cast(
            sum(
                case
                    when departures.is_due and departures.outcome = 'not_run' then coalesce(lengths.n_stops, 0)
                    else 0
                end
            ) as bigint
        ) as n_passages_not_run,
        count(case when not departures.is_due then 1 end) as n_not_yet_due,
        max(departures.ruleset_version) as ruleset_version
    from departures
    left join leg_lengths as lengths using (operator, service_date, line_code, direction, leg)
    group by operator, service_date, line_code, direction
    having n_scheduled_trips > 0
)

select
    *,
    n_not_yet_due = 0 as is_complete,
    -- bounds: what certainly ran, and all but what certainly did not
    cast(n_run as double) / n_scheduled_trips as delivered_share_low,
    cast(n_scheduled_trips - n_not_run as double) / n_scheduled_trips as delivered_share_high
from counts
