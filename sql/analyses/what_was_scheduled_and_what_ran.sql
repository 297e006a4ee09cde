-- Of the departures in the timetable an hour before they were due, how many ran?
-- A departure withdrawn within that hour counts: passengers had planned by it. Only dates that are over count.
select
    departures.operator,
    departures.line_code,
    departures.direction,
    count(*) as n_scheduled,
    count(case when departures.outcome = 'withdrawn' then 1 end) as n_withdrawn,
    count(case when departures.outcome = 'run' then 1 end) as n_run,
    count(case when departures.outcome = 'not_run' then 1 end) as n_not_run,
    count(case when departures.outcome not in ('withdrawn', 'run', 'not_run') then 1 end) as n_unclear
from core.scheduled_departures as departures
inner join core.closed_dates using (operator, service_date)
where
    departures.valid_from <= departures.departure_at - interval '1 hour'
    and coalesce(departures.valid_to > departures.departure_at - interval '1 hour', true)
    and coalesce(service_date >= getvariable('from_date'), true)
    and coalesce(service_date <= getvariable('to_date'), true)
    and (getvariable('lines') is null or list_contains(getvariable('lines'), departures.line_code))
group by departures.operator, departures.line_code, departures.direction
order by departures.operator, departures.line_code, departures.direction
