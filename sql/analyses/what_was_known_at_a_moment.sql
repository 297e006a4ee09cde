-- What was known at a moment? The departures promised, the network and the disruptions as they stood then.
-- Change the moment (UTC) here. A row stood from valid_from until before valid_to; an event from first_seen_at until
-- before ended_before. Raw answers of the time: `received_at <= moment` in staging. For every figure as it would have
-- been worked out then: `transit-etl build --as-of MOMENT`.
with asked as (
    select max(received_at) - interval '2 hours' as moment
    from core.requests
)

select
    'departures promised' as what,
    count(*) as n,
    max(departures.valid_from) as last_changed_at
from core.scheduled_departures as departures
inner join asked
    on departures.valid_from <= asked.moment and coalesce(departures.valid_to > asked.moment, true)
union all
select
    'lines' as what,
    count(*) as n,
    max(lines.valid_from) as last_changed_at
from core.lines
inner join asked on lines.valid_from <= asked.moment and coalesce(lines.valid_to > asked.moment, true)
union all
select
    'stops of lines' as what,
    count(*) as n,
    max(stops.valid_from) as last_changed_at
from core.line_stops as stops
inner join asked on stops.valid_from <= asked.moment and coalesce(stops.valid_to > asked.moment, true)
union all
select
    'disruptions' as what,
    count(*) as n,
    max(episodes.first_seen_at) as last_changed_at
from core.status_episodes as episodes
inner join asked
    on episodes.first_seen_at <= asked.moment and coalesce(episodes.ended_before > asked.moment, true)
union all
select
    'news' as what,
    count(*) as n,
    max(news.valid_from) as last_changed_at
from core.news
inner join asked on news.valid_from <= asked.moment and coalesce(news.valid_to > asked.moment, true)
union all
select
    'passages answered so far' as what,
    count(*) as n,
    max(visits.first_seen_at) as last_changed_at
from core.stop_visits as visits
inner join asked on visits.first_seen_at <= asked.moment
order by what
