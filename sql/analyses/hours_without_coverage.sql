-- When was nobody looking? By date and hour: what was due, how many of the stops were polled, and the covered share of
-- the time at all stops that were polled or at which passages were due. In an hour that was not polled it is 0; on a
-- date on which no passages were requested at all, only departures of the timetable are known (`n_departures`).
-- Only dates that are over count.
with closed as (
    select
        operator,
        least(getvariable('to_date'), max(service_date)) as last_date
    from core.closed_dates
    group by operator
),

hours as (
    select
        operator,
        service_date,
        service_hour,
        sum(n_due) as n_due,
        count(case when n_due > 0 then 1 end) as n_stops_with_service,
        count(case when sent > 0 then 1 end) as n_stops_polled,
        sum(case when sent = 0 then n_due else 0 end) as n_due_at_stops_not_polled,
        sum(planned) as n_planned,
        sum(sent) as n_sent,
        sum(good) as n_good,
        sum(covered_seconds) / (3600 * count(*)) as covered_share,
        max(longest_gap_seconds) as longest_gap_seconds
    from marts.coverage
    inner join closed using (operator)
    where service_date <= last_date and coalesce(service_date >= getvariable('from_date'), true)
    group by operator, service_date, service_hour
),

departures as (
    select
        operator,
        service_date,
        service_hour,
        count(*) as n_departures
    from core.scheduled_departures
    inner join closed using (operator)
    where
        is_in_force
        and service_date <= last_date
        and coalesce(service_date >= getvariable('from_date'), true)
    group by operator, service_date, service_hour
)

select
    operator,
    service_date,
    service_hour,
    coalesce(departures.n_departures, 0) as n_departures,
    hours.n_due,
    hours.n_stops_with_service,
    coalesce(hours.n_stops_polled, 0) as n_stops_polled,
    hours.n_due_at_stops_not_polled,
    coalesce(hours.n_planned, 0) as n_planned,
    coalesce(hours.n_sent, 0) as n_sent,
    coalesce(hours.n_good, 0) as n_good,
    round(coalesce(hours.covered_share, 0), 3) as covered_share,
    coalesce(hours.longest_gap_seconds, 3600) as longest_gap_seconds
from hours
full outer join departures using (operator, service_date, service_hour)
order by operator, service_date, service_hour
