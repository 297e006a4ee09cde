-- What was known at a moment? Departures, network and disruptions as upstream had given them by then.
-- The moment is `--at`, or two hours before the last answer. A row was valid from valid_from until before valid_to; an
-- event from first_seen_at until before ended_before. In staging, answers by then are those with
-- `received_at <= moment`. To compute every figure from those answers alone: `transit-etl build --as-of MOMENT`.
with selected as (
    select
        operator,
        coalesce(getvariable('moment'), max(received_at) - interval '2 hours') as moment
    from core.requests
    group by operator
),

validities as (
    select
        operator,
        'departures' as what,
        valid_from as known_from,
        valid_to as known_to
    from core.scheduled_departures
    union all
    select
        operator,
        'lines' as what,
        valid_from as known_from,
        valid_to as known_to
    from core.lines
    union all
    select
        operator,
        'stops of lines' as what,
        valid_from as known_from,
        valid_to as known_to
    from core.line_stops
    union all
    select
        operator,
        'disruptions' as what,
        first_seen_at as known_from,
        ended_before as known_to
    from core.status_episodes
    union all
    select
        operator,
        'news' as what,
        valid_from as known_from,
        valid_to as known_to
    from core.news
    union all
    select
        operator,
        'visits seen so far' as what,
        first_seen_at as known_from,
        null as known_to
    from core.stop_visits
),

known as (
    select
        operator,
        selected.moment,
        validities.what,
        case
            when
                validities.known_from <= selected.moment
                and coalesce(validities.known_to > selected.moment, true)
                then validities.known_from
        end as changed_at
    from validities
    inner join selected using (operator)
)

select
    operator,
    moment,
    what,
    count(changed_at) as n,
    max(changed_at) as last_changed_at
from known
group by operator, moment, what
order by operator, what
