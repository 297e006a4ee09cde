"""Draws the audit sample: visits chosen by chance alone among all that the timetable promises.

A visit is a departure of the timetable and a position of its direction's stop list. It is drawn if a number
between 0 and 1, made of the seed and of what identifies the visit, is below its inclusion probability
(Poisson sampling). So all workers and all windows draw the same, and anybody can check it afterwards.

The inclusion probability is the same for all visits of a service date whose departures leave in the same
hour: the polls that the audit may make in an hour, over those that all these visits would need. It is 1 where
little is due. A changed timetable changes it, so the ledger keeps the one that a visit was drawn by.
"""

from datetime import date, datetime, timedelta

from transit_etl.clock import naive_utc
from transit_etl.collect.known_network import MOST_DAYS_AHEAD, NEWEST_TIMETABLE, Catalogue, scan
from transit_etl.collect.planning.audit_watch import Draw
from transit_etl.line_labels import normal_label
from transit_etl.service_day import DAY, service_date
from transit_etl.settings import CollectSettings, FolderSettings

_LONGEST_WATCH = timedelta(hours=4)  # from a departure until the watch of its last stop is given up


def audit_draws(
    settings: CollectSettings, first: datetime, last: datetime, polls_per_visit: float
) -> list[Draw]:
    """Return the visits drawn whose watch may lie between two instants; none while no timetable is staged.

    `polls_per_visit` is how many polls one is expected to need. The lake is read again in every call.
    """
    catalogue = Catalogue(settings.data_dir, settings.operator)
    labels = {line.code: normal_label(line.number or line.code) for line in catalogue.lines()}
    first_date = _service_date(settings, first) - DAY
    rows = catalogue.rows(
        "timetables",
        _DRAWS,
        also="line_stops",
        since=first_date - DAY * MOST_DAYS_AHEAD,
        seed=settings.audit_seed,
        polls_an_hour=settings.audit_share * settings.rate_per_minute * 60 / polls_per_visit,
        first_date=first_date,
        last_date=_service_date(settings, last) + DAY,
        first_at=naive_utc(first - _LONGEST_WATCH),
        last_at=naive_utc(last),
    )
    return [Draw(labels[row[1]], settings.audit_seed, *row) for row in rows if row[1] in labels]


def _service_date(settings: FolderSettings, instant: datetime) -> date:
    return service_date(instant, settings.zone, settings.service_day_cutoff)


# The chance of a visit is computed again by the macro `audit_chance` of the dbt project.
_DRAWS = f"""
    with departures as (
        select
            service_date, line_code, direction, coalesce(service_code, '') as service_code, departure_at,
            service_hour,
            row_number() over (
                partition by request_id, service_date, line_code, direction, service_code, departure_at
                order by departure_number, headsign, leg_description
            ) as duplicate_number
        from {scan("files")}
        where
            operator = $operator and departure_at is not null
            and service_date between $first_date and $last_date
        qualify {NEWEST_TIMETABLE}
    ),
    stops as (
        select
            line_code, direction, position, stop_code,
            row_number() over (
                partition by request_id, line_code, direction, direction_key order by position
            ) as nth
        from {scan("line_stops")}
        where operator = $operator and line_code is not null and stop_code is not null
        qualify request_id = first_value(request_id) over (
            partition by line_code order by received_at desc, request_id
        )
        and direction_key is not distinct from first_value(direction_key) over (
            partition by request_id, line_code, direction
            order by case when direction_key = 'ritorno' then 0 else 1 end, direction_key
        )
    ),
    ways as (
        select line_code, direction, list(stop_code order by position) as stop_codes, count(*) as n_stops
        from stops
        group by line_code, direction
    ),
    hours as (
        select service_date, service_hour, least(1.0, $polls_an_hour / sum(n_stops)) as probability
        from departures join ways using (line_code, direction)
        group by service_date, service_hour
    ),
    spaced as (
        select
            *,
            coalesce(
                (epoch_us(departure_at) - epoch_us(lag(departure_at) over way)) / 1e6, 'inf'
            ) as seconds_before,
            coalesce(
                (epoch_us(lead(departure_at) over way) - epoch_us(departure_at)) / 1e6, 'inf'
            ) as seconds_after
        from departures
        window way as (
            partition by line_code, direction order by departure_at, service_code, duplicate_number
        )
    ),
    visits as (
        select
            spaced.service_date, line_code, direction, service_code, departure_at, duplicate_number, position,
            probability, stop_codes[:nth] as stop_codes, seconds_before, seconds_after,
            md5_number_upper(concat_ws(
                '|', $seed, $operator, spaced.service_date, line_code, direction, service_code, departure_at,
                duplicate_number, position
            )) / 18446744073709551616.0 as chance
        from spaced
        join hours using (service_date, service_hour)
        join stops using (line_code, direction)
        join ways using (line_code, direction)
        where departure_at between $first_at and $last_at
    )
    select * exclude (chance)
    from visits
    where chance < probability
    order by departure_at, line_code, direction, service_code, duplicate_number, position
"""
