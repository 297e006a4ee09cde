-- What was known at a moment? Departures, network and disruptions as upstream had given them by then.
-- Change the moment (UTC) here. A row was valid from valid_from until before valid_to; an event from first_seen_at
-- until before ended_before. In staging, answers by then are those with `received_at <= moment`. To compute every
-- figure from those answers alone: `transit-etl build --as-of MOMENT`.
with selected as (
    select max(received_at) - interval '2 hours' as moment
    from core.requests
)

select
    'departures' as what,
    count(*) as n,
    max(departures.valid_from) as last_changed_at
from core.scheduled_departures as departures
inner join selected
    on departures.valid_from <= selected.moment and coalesce(departures.valid_to > selected.moment, true)
union all
select
    'lines' as what,
    count(*) as n,
    max(lines.valid_from) as last_changed_at
from core.lines
inner join selected on lines.valid_from <= selected.moment and coalesce(lines.valid_to > selected.moment, true)
union all
select
    'stops of lines' as what,
    count(*) as n,
    max(stops.valid_from) as last_changed_at
from core.line_stops as stops
inner join selected on stops.valid_from <= selected.moment and coalesce(stops.valid_to > selected.moment, true)
union all
select
    'disruptions' as what,
    count(*) as n,
    max(episodes.first_seen_at) as last_changed_at
from core.status_episodes as episodes
inner join selected
    on episodes.first_seen_at <= selected.moment and coalesce(episodes.ended_before > selected.moment, true)
union all
select
    'news' as what,
    count(*) as n,
    max(news.valid_from) as last_changed_at
from core.news
inner join selected on news.valid_from <= selected.moment and coalesce(news.valid_to > selected.moment, true)
union all
select
    'visits seen so far' as what,
    count(*) as n,
    max(visits.first_seen_at) as last_changed_at
from core.stop_visits as visits
inner join selected on visits.first_seen_at <= selected.moment
order by what
