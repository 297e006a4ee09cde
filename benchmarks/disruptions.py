"""Measure what is published of disruptions against the truth of an emulated month, by identity.

    python benchmarks/disruptions.py [--size city] [--start 2026-10-12] [--days 30] [--seed 1] [--data FOLDER]

Rehearses the service status of a month with a change of clocks and an outage of the collector of six hours, builds, and
compares episodes, their listings, the minutes of every line and hour, lifts and repairs with what the emulator knows.
The comparison shares no SQL with the warehouse: it reads plain tables and counts in Python. With --data a month that
was rehearsed before is measured again.
"""

import argparse
import math
import tempfile
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import httpx
from rich.console import Console
from rich.table import Table

from transit_emulator.app import create_app
from transit_emulator.truth.events import events as true_events
from transit_emulator.world import World, build_world
from transit_etl import warehouse
from transit_etl.line_labels import normal_label
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings

Row = dict[str, Any]
HOUR = 3600.0
POLL_SECONDS = 60
OUTAGE_AFTER, OUTAGE_HOURS = timedelta(days=8, hours=5), 6
ONLY = ("status", "network")
FAR = datetime(9999, 1, 1)  # noqa: DTZ001 - instants of the tables are UTC without a zone


class Span(NamedTuple):
    """A stretch of time in seconds since 1970."""

    start: float
    end: float


class Outage(httpx.AsyncBaseTransport):
    """A transport that reaches nobody while the collector is away."""

    def __init__(self, transport: httpx.AsyncBaseTransport, away: Span) -> None:
        self._transport = transport
        self._away = away

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Pass a request on, unless the collector is away."""
        now = datetime.fromisoformat(request.headers["X-Emulated-Now"]).timestamp()
        if self._away.start <= now < self._away.end:
            raise httpx.ConnectError("the collector is away", request=request)
        return await self._transport.handle_async_request(request)


@dataclass
class Measure:
    """A figure: how many of how many, what it should be, and what missed it first."""

    name: str
    goal: str
    n_right: int = 0
    n: int = 0
    missed: list[str] = field(default_factory=list)

    def count(self, is_right: bool, what: object = "") -> None:  # noqa: FBT001 - what is counted
        """Count one case."""
        self.n += 1
        self.n_right += is_right
        if not is_right and len(self.missed) < 8:
            self.missed.append(str(what))


@dataclass(frozen=True)
class Month:
    """What was rehearsed: the world, its period, when the collector was away, and the published tables."""

    world: World
    first: date
    last: date
    away: Span
    polls: list[float]
    events: list[Row]
    connection: duckdb.DuckDBPyConnection

    def rows(self, query: str) -> list[Row]:
        """Return the rows of a plain query of the build."""
        result = self.connection.execute(query)
        names = [column[0] for column in result.description or []]
        return [dict(zip(names, row, strict=True)) for row in result.fetchall()]

    def n_polls_in(self, span: Span) -> int:
        """Return how many complete answers came in a stretch of time."""
        return bisect_left(self.polls, span.end) - bisect_left(self.polls, span.start)

    def poll_before(self, at: float) -> float:
        """Return the last complete answer before an instant."""
        position = bisect_left(self.polls, at)
        return self.polls[position - 1] if position else -math.inf

    def poll_from(self, at: float) -> float:
        """Return the first complete answer at an instant or after it."""
        position = bisect_left(self.polls, at)
        return self.polls[position] if position < len(self.polls) else math.inf


def rehearse_month(arguments: argparse.Namespace, folder: Path) -> tuple[World, Span, Settings]:
    """Rehearse the month, unless the folder has it, and build it."""
    settings = Settings(data_dir=folder, status_interval_seconds=POLL_SECONDS)
    start = datetime.combine(arguments.start, time(4), settings.zone).astimezone(UTC)
    away_from = (start + OUTAGE_AFTER).timestamp()
    away = Span(away_from, away_from + OUTAGE_HOURS * HOUR)
    world = build_world(arguments.size, None, arguments.seed, has_revisions=True)
    if not (folder / "lake").exists():
        transport = Outage(httpx.ASGITransport(create_app(world)), away)
        report = rehearse(settings, start, arguments.days * 24 + 1, transport=transport, only=ONLY)
        speed = report.virtual_seconds / report.real_seconds
        print(f"rehearsed at {speed:,.0f} times real time, staging included")  # noqa: T201
    warehouse.build(settings)
    return world, away, settings


def month_of(arguments: argparse.Namespace, folder: Path) -> Month:
    """Return the rehearsed month with its truth."""
    world, away, _ = rehearse_month(arguments, folder)
    connection = duckdb.connect(str(folder / "warehouse" / "build.duckdb"), read_only=True)
    connection.execute("set timezone = 'UTC'")
    polls = connection.execute(
        "select received_at from intermediate.answer_evidence "
        "where endpoint = 'status' and key = '' and evidence = 'complete' order by 1"
    ).fetchall()
    last = arguments.start + timedelta(days=arguments.days)
    events = true_events(world, arguments.start, last).to_pylist()
    return Month(
        world, arguments.start, last, away, [_seconds(at) for (at,) in polls], events, connection
    )


def _seconds(at: datetime | None) -> float:
    return math.inf if at is None else at.replace(tzinfo=UTC).timestamp()


def _listed(event: Row) -> list[Span]:
    """Return when an event was listed."""
    spans = [Span(_seconds(event["listed_at"]), _seconds(event["ended_at"]))]
    if event["absent_from"] is not None:
        away = Span(_seconds(event["absent_from"]), _seconds(event["absent_until"]))
        spans = [Span(spans[0].start, away.start), Span(away.end, spans[0].end)]
    return [span for span in spans if span.end > span.start]


def _names(names: Iterable[str] | None) -> frozenset[str]:
    return frozenset(normal_label(name) or name for name in names or ())


def matched(month: Month) -> tuple[dict[str, list[Row]], list[Row]]:
    """Return the published episodes of each event, and those of none.

    An episode is of an event if it has its category, and at its first answer the event was listed with the
    start and the lines that the episode's first version has.
    """
    versions = month.rows(
        "select episode_id, version_number, valid_from, lines, started_at, category, message "
        "from core.status_episode_versions order by episode_id, version_number"
    )
    first: dict[str, Row] = {}
    for row in versions:
        first.setdefault(row["episode_id"], row)
    episodes = month.rows("select * from core.status_episodes")
    by_key: dict[tuple[str, float, frozenset[str]], list[Row]] = defaultdict(list)
    for event in month.events:
        by_key[event["category"], _seconds(event["started_at"]), _names(event["lines"])].append(event)
    found: dict[str, list[Row]] = defaultdict(list)
    unmatched = []
    for episode in episodes:
        version = first[episode["episode_id"]]
        key = version["category"], _seconds(version["started_at"]), _names(version["lines"])
        seen = _seconds(version["valid_from"])
        own = [
            event
            for event in by_key.get(key, [])
            if any(span.start <= seen < span.end for span in _listed(event))
        ]
        if len(own) > 1:
            own = [event for event in own if event["message"] == version["message"]] or own
        if own:
            found[own[0]["event_id"]].append(episode)
        else:
            unmatched.append(episode)
    return found, unmatched


def measure_episodes(month: Month) -> Iterator[Measure]:
    """Compare episodes with events that were open for at least two polls."""
    found, unmatched = matched(month)
    recall = Measure("episodes: recall (one episode for each event)", ">= 99 %")
    precision = Measure("episodes: precision", ">= 99 %")
    of_class = {
        name: Measure(f"episodes: {name}", ">= 95 %") for name in ("flap", "edited message", "over the change of clocks")
    }
    listing = Measure("listing begins and ends inside its interval", "100 %")
    change = _change_of_clocks(month)
    for event in month.events:
        spans = _listed(event)
        if sum(month.n_polls_in(span) for span in spans) < 2:
            continue
        own = found.get(event["event_id"], [])
        is_one = len(own) == 1
        recall.count(is_one, (event["event_id"], event["category"], event["message"], len(own)))
        classes = {
            "flap": event["absent_from"] is not None and month.n_polls_in(Span(spans[0].end, spans[-1].start)) > 0,
            "edited message": event["edited_at"] is not None,
            "over the change of clocks": change is not None and spans[0].start < change < spans[-1].end,
        }
        for name, is_of_it in classes.items():
            if is_of_it:
                of_class[name].count(is_one, event["message"])
        if is_one:
            begins, ends = spans[0].start, spans[-1].end
            after, before = own[0]["listed_after"], own[0]["ended_before"]
            is_inside = (
                (after is None or _seconds(after) < begins)
                and begins <= _seconds(own[0]["first_seen_at"])
                and _seconds(own[0]["ended_after"]) < ends <= _seconds(before)
            )
            listing.count(is_inside, (event["message"], own[0]["first_seen_at"], own[0]["ended_before"]))
    listed_once = {event["event_id"] for event in month.events}
    for event_id, own in found.items():
        assert event_id in listed_once
        for number, episode in enumerate(own):
            precision.count(number == 0, episode["message"])
    for episode in unmatched:
        precision.count(False, ("of no event", episode["message"], episode["first_seen_at"]))
    yield from (recall, precision, *of_class.values(), listing)


def _change_of_clocks(month: Month) -> float | None:
    zone = month.world.network.zone
    day = month.first
    while day < month.last:
        noon, next_noon = (datetime.combine(each, time(12), zone) for each in (day, day + timedelta(days=1)))
        if next_noon.utcoffset() != noon.utcoffset():
            return datetime.combine(day + timedelta(days=1), time(3), zone).timestamp()
        day += timedelta(days=1)
    return None


def _union(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for span in sorted(spans):
        if merged and span.start <= merged[-1].end:
            merged[-1] = Span(merged[-1].start, max(merged[-1].end, span.end))
        elif span.end > span.start:
            merged.append(span)
    return merged


def _overlap(spans: list[Span], start: float, end: float) -> float:
    return sum(max(0.0, min(span.end, end) - max(span.start, start)) for span in spans)


def measure_minutes(month: Month) -> Iterator[Measure]:
    """Compare the minutes of every line and hour with the time in which an event of the line lasted."""
    codes: dict[str, list[str]] = defaultdict(list)
    for line in month.world.network.lines:
        codes[normal_label(line.number) or line.number].append(line.code)
    disturbed: dict[str, list[Span]] = defaultdict(list)
    for event in month.events:
        if event["category"] == "ASC":
            continue
        for name in _names(event["lines"]):
            for code in codes.get(name, []):
                disturbed[code].append(Span(_seconds(event["started_at"]), _seconds(event["ended_at"])))
    spans = {code: _union(found) for code, found in disturbed.items()}
    holds = Measure("line x date x hour: minutes inside [low, high]", ">= 99 %")
    narrow = Measure("line x hour outside outages: no wider than 2 polls a boundary", "100 %")
    hours = {
        (row["service_date"], row["service_hour"]): (_seconds(row["from_at"]), _seconds(row["to_at"]))
        for row in month.rows("select service_date, service_hour, from_at, to_at from core.service_hours")
    }
    n_hours = len({*hours})
    cells = month.rows(
        "select line_code, service_date, service_hour, watched_seconds, hour_seconds, low_seconds, high_seconds "
        "from marts.disruption_minutes"
    )
    for cell in cells:
        start, end = hours[cell["service_date"], cell["service_hour"]]
        found = spans.get(cell["line_code"], [])
        true = _overlap(found, start, end)
        is_right = cell["low_seconds"] - 1 <= true <= cell["high_seconds"] + 1
        holds.count(is_right, (cell["line_code"], cell["service_date"], cell["service_hour"], round(true),
                               cell["low_seconds"], cell["high_seconds"]))  # fmt: skip
        if cell["watched_seconds"] >= cell["hour_seconds"] - 1:
            n_bounds = sum(start - 900 <= bound <= end + 900 for span in found for bound in span)
            width = cell["high_seconds"] - cell["low_seconds"]
            narrow.count(width <= 2 * (POLL_SECONDS + 5) * max(n_bounds, 0) + 2 or n_bounds > 0 and width <= 1_800,
                         (cell["line_code"], cell["service_date"], cell["service_hour"], width))  # fmt: skip
    n_lines = len({cell["line_code"] for cell in cells})
    print(f"{len(cells):,} cells of {n_lines} lines and {n_hours} hours")  # noqa: T201
    yield from (holds, narrow)


def measure_lifts(month: Month) -> Iterator[Measure]:
    """Compare the availability of lifts by month, and the median time to repair, with the true outages."""
    outages: dict[str, list[Span]] = defaultdict(list)
    for event in month.events:
        if event["category"] == "ASC":
            for name in event["lines"] or ():
                outages[name].append(Span(_seconds(event["started_at"]), _seconds(event["ended_at"])))
    merged = {name: _union(spans) for name, spans in outages.items()}
    hours = month.rows("select from_at, to_at, service_date from core.service_hours")
    closed = {row["service_date"]: row["month_period"] for row in month.rows("select * from core.closed_dates")}
    periods: dict[str, list[Span]] = defaultdict(list)
    for row in hours:
        if row["service_date"] in closed:
            periods[closed[row["service_date"]]].append(Span(_seconds(row["from_at"]), _seconds(row["to_at"])))
    spans = {period: _union(found) for period, found in periods.items()}
    holds = Measure("lift x month: availability holds", "100 %")
    narrow = Measure("lift x month: no wider than the outage of the collector and 2 polls a failure", "100 %")
    for row in month.rows("select * from marts.lift_availability_monthly where definition = 'all_hours'"):
        own, period = merged.get(row["lift"], []), spans[row["month_period"]]
        total = sum(span.end - span.start for span in period)
        out = sum(_overlap(own, span.start, span.end) for span in period)
        true = 1 - out / total
        holds.count(row["availability_low"] - 1e-9 <= true <= row["availability_high"] + 1e-9,
                    (row["lift"], row["month_period"], true, row["availability_low"], row["availability_high"]))  # fmt: skip
        away = _overlap([month.away], period[0].start, period[-1].end)
        n_failures = sum(any(each.start < span.end and each.end > span.start for span in period) for each in own)
        width = row["out_high_seconds"] - row["out_low_seconds"]
        narrow.count(width <= away + 2 * (POLL_SECONDS + 5) * (2 * n_failures + 2) + 1_800 * n_failures,
                     (row["lift"], width, away, n_failures))  # fmt: skip
    repair = Measure("time to repair: interval of the median holds (lifts x months)", ">= 92 %")
    starts = min(span.start for found in spans.values() for span in found)
    true_medians: Mapping[tuple[str, str], list[float]] = defaultdict(list)
    for period, found in spans.items():
        for name, own in [*merged.items(), ("", [span for each in merged.values() for span in each])]:
            for span in own:
                if span.start >= starts and any(each.start <= span.start < each.end for each in found):
                    true_medians[period, name].append(span.end - span.start)
    for row in month.rows(
        "select * from marts.lift_reliability where definition = 'all_hours' and period != 'all' "
        "and repair_low_seconds is not null"
    ):
        durations = sorted(true_medians[row["period"], row["lift"] or ""])
        if durations:
            # the median that repairs have in the long run: that of all lifts and the whole month
            repair.count(
                row["repair_low_seconds"] - 1 <= durations[len(durations) // 2]
                and (row["repair_high_seconds"] or math.inf) + 1 >= durations[(len(durations) - 1) // 2],
                (row["lift"], durations[len(durations) // 2], row["repair_low_seconds"], row["repair_high_seconds"]),
            )
    yield from (holds, narrow, repair)


def main() -> None:
    """Measure a month, and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", default="city")
    parser.add_argument("--start", type=date.fromisoformat, default=date(2026, 10, 12))
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        month = month_of(arguments, arguments.data or Path(temporary) / "data")
        table = Table("measure", "right", "of", "share", "goal")
        measures = [*measure_episodes(month), *measure_minutes(month), *measure_lifts(month)]
        for each in measures:
            share = f"{each.n_right / each.n:.2%}" if each.n else "none"
            table.add_row(each.name, f"{each.n_right:,}", f"{each.n:,}", share, each.goal)
        console = Console()
        console.print(table)
        for each in measures:
            for missed in each.missed:
                console.print(f"missed, {each.name}: {missed}", soft_wrap=True, highlight=False)
        month.connection.close()


if __name__ == "__main__":
    main()
