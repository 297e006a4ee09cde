"""The command `trip`: what was promised, seen and concluded about one departure."""

import re
from datetime import date
from typing import Annotated

import typer

from transit_base.errors import TransitError
from transit_etl.cli.options import Json, day
from transit_etl.cli.sql import AsFormat, asked_format
from transit_etl.settings import load_settings

_DEPARTURES = """
with departures as (
    select *, strftime(local_time(departure_at, operator), '%H:%M') as departs
    from core.scheduled_departures
    where
        service_date = getvariable('service_date') and is_in_force
        and list_contains(getvariable('lines'), line_code)
)
"""
_TIMES = """
select departs, direction from departures
order by abs(epoch(departure_at) - (
    select min(epoch(departure_at)) from departures where departs >= getvariable('time')
)), departure_at
"""
_CHOSEN = """
where departs = getvariable('time') and coalesce(departures.direction = getvariable('direction'), true)
"""
_CONCLUDED = """
select
    departures.line_code as line, departures.direction, towards, departs, leg_description as leg,
    strftime(local_time(promised_from, departures.operator), '%Y-%m-%d %H:%M') as first_listed,
    strftime(local_time(promised_to, departures.operator), '%Y-%m-%d %H:%M') as removed,
    fate as promised_fate, outcome, matched_trip_id as trip_id, round(match_score, 2) as match_score
from departures
left join direction_names() using (operator, line_code, direction)
left join core.promised_departures as promised using (operator, departure_key)
{chosen}
order by departures.departure_at, departures.direction
"""
_CALLS = """
select
    calls.direction, calls.position, calls.stop_code as stop,
    strftime(local_time(calls.scheduled_at, calls.operator), '%H:%M:%S') as due,
    calls.schedule_source as due_by,
    strftime(local_time(calls.passed_at, calls.operator), '%H:%M:%S') as passed,
    strftime(local_time(calls.passed_after, calls.operator), '%H:%M:%S') as after,
    strftime(local_time(calls.passed_before, calls.operator), '%H:%M:%S') as before,
    calls.arrival_quality as quality, calls.delay_seconds as delay, round(calls.delay_error_seconds) as error,
    round(calls.on_time_probability::double, 2) as on_time
from core.trip_trajectories as calls
where calls.departure_key in (select departure_key from departures {chosen})
order by calls.direction, calls.position
"""
_ANSWERS = """
, visits as (
    select visits.*, departures.direction as way
    from departures inner join core.stop_visits as visits on matched_trip_key = trip_key
    {chosen}
),
listed as (
    select *, last_seen_at as seen_at, 'last that lists it' as proves from visits
    union all
    select *, passed_before as seen_at, 'first without it' as proves from visits
    where passed_before is not null
)
select
    listed.way as direction, listed.position, listed.stop_code as stop, proves,
    strftime(local_time(requests.received_at, requests.operator), '%H:%M:%S') as received,
    requests.n_rows as "rows", requests.request_id
from listed
left join lateral (
    from core.requests as asked
    where
        asked.operator = listed.operator and asked.endpoint = 'passages' and asked.key = listed.stop_code
        and asked.is_good and abs(epoch(asked.received_at) - epoch(seen_at)) < 120
    order by abs(epoch(asked.received_at) - epoch(seen_at)) limit 1
) as requests on true
order by direction, position, proves desc
"""
# The departures, those near the time, their calls, and the answers about these.
_QUERIES = ";".join(
    (_DEPARTURES + text).format(chosen=_CHOSEN) for text in (_CONCLUDED, _TIMES, _CALLS, _ANSWERS)
)


class NoDepartureError(TransitError):
    """The published file has no such departure; the message names those that are near."""


def trip(
    line: Annotated[str, typer.Argument(help="Its code or its public number.")],
    service_date: Annotated[date, typer.Argument(parser=day, metavar="DATE", help="The service date.")],
    time: Annotated[str, typer.Argument(help="When it leaves its first stop, local time: 08:15.")],
    *,
    direction: Annotated[
        str | None, typer.Option("--direction", help="`outbound` or `inbound`; without it, both.")
    ] = None,
    as_format: AsFormat = None,
    as_json: Json = False,
) -> None:
    """Show a departure: what was promised, what was concluded of each call, and by which answers.

    Example: transit-etl trip 18 2026-03-02 08:15
    """
    from transit_etl.cli.formats import write
    from transit_etl.cli.lines import codes_of
    from transit_etl.queries import query_all

    settings = load_settings()
    if not re.fullmatch(r"\d\d:\d\d", time):
        raise typer.BadParameter(f"{time!r} is not a time: write 08:15")
    asked = {
        "lines": codes_of(settings, line), "service_date": service_date, "time": time, "direction": direction,
    }  # fmt: skip
    found, nearest, *about = query_all(settings, _QUERIES, asked)
    if not found.num_rows:
        near = ", ".join(f"{row['departs']} {row['direction']}" for row in nearest.to_pylist()[:4])
        raise NoDepartureError(
            f"line {line} has no departure at {time} on {service_date}"
            + (f": near it are {near}" if near else "")
        )
    write([found, *about], asked_format(as_format, as_json=as_json), None)
