"""Measure what is published of disruptions against the truth of an emulated month, by identity.

    python benchmarks/disruptions.py [--size city] [--start 2026-10-12] [--days 30] [--seed 1] [--data FOLDER]

Rehearses the service status and news of a month with a change of clocks and an outage of the collector of six
hours, builds, and compares episodes, their listings, the minutes of every line and hour, lifts, repairs and
news with what the emulator knows. The comparison shares no SQL with the warehouse: it reads plain tables and
counts in Python. With --data a month that was rehearsed before is measured again.
"""

import argparse
import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import duckdb
import httpx2
import pyarrow.parquet as pq

from benchmarks.measures import (
    Measure,
    Row,
    Span,
    measure,
    options_of,
    rehearsed,
    rows_of,
    seconds_of,
    starts_at,
)
from benchmarks.news_links import measure_news
from transit_emulator.truth import write_truth
from transit_emulator.world import World
from transit_etl.line_labels import normal_label
from transit_etl.settings import Settings

HOUR = 3600.0
POLL_SECONDS = 60
TOLD_LATE_SECONDS = 15 * 60  # the bounds of availability allow for it, and of repairs the comparison
OUTAGE_AFTER, OUTAGE_HOURS = timedelta(days=8, hours=5), 6
ONLY = ("status", "news", "network")


class Outage(httpx2.AsyncBaseTransport):
    """A transport that reaches nobody while the collector is away."""

    def __init__(self, transport: httpx2.AsyncBaseTransport, away: Span) -> None:
        self._transport = transport
        self._away = away

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Pass a request on, unless the collector is away."""
        now = datetime.fromisoformat(request.headers["X-Emulated-Now"]).timestamp()
        if self._away.start <= now < self._away.end:
            raise httpx2.ConnectError("the collector is away", request=request)
        return await self._transport.handle_async_request(request)


@dataclass(frozen=True)
class Truth:
    """What the emulator knows of the events of a month, by id."""

    events: dict[str, Row]
    versions: dict[str, list[Row]]
    listings: dict[str, list[Span]]
    outages: dict[str, list[Span]]
    plant: list[Row]


@dataclass(frozen=True)
class Month:
    """What was rehearsed: the world, when its status was answered, the truth, and the tables of the build."""

    world: World
    polls: list[float]
    truth: Truth
    truth_folder: Path
    connection: duckdb.DuckDBPyConnection

    def rows(self, query: str) -> list[Row]:
        """Return the rows of a plain query of the build."""
        return rows_of(self.connection, query)

    def n_polls_in(self, span: Span) -> int:
        """Return how many complete answers came in a stretch of time."""
        return bisect_left(self.polls, span.end) - bisect_left(self.polls, span.start)


def month_of(options: argparse.Namespace, folder: Path) -> Month:
    """Rehearse the month, unless the folder has it, build it, and return it with its truth."""
    settings = Settings(data_dir=folder, status_interval_seconds=POLL_SECONDS)
    away_from = (starts_at(options, settings) + OUTAGE_AFTER).timestamp()
    away = Span(away_from, away_from + OUTAGE_HOURS * HOUR)
    days = rehearsed(options, settings, ONLY, via=lambda transport: Outage(transport, away))
    polls = days.connection.execute(
        "select received_at from intermediate.answer_evidence "
        "where endpoint = 'status' and key = '' and evidence = 'complete' order by 1"
    ).fetchall()
    write_truth(days.world, days.first, days.last, folder / "truth", only=("events", "plant", "news"))
    seen = [seconds_of(at) for (at,) in polls]
    return Month(days.world, seen, read_truth(folder / "truth"), folder / "truth", days.connection)


def read_truth(folder: Path) -> Truth:
    """Read the tables of events and plant."""
    tables = {
        name: pq.read_table(folder / f"{name}.parquet").to_pylist()
        for name in ("events", "event_versions", "event_listings", "plant", "plant_outages")
    }
    versions: dict[str, list[Row]] = defaultdict(list)
    for row in sorted(tables["event_versions"], key=lambda row: int(row["version"])):
        versions[row["event_id"]].append(row)
    listings: dict[str, list[Span]] = defaultdict(list)
    for row in tables["event_listings"]:
        listings[row["event_id"]].append(Span(seconds_of(row["listed_from"]), seconds_of(row["listed_to"])))
    outages: dict[str, list[Span]] = defaultdict(list)
    for row in tables["plant_outages"]:
        outages[row["plant_id"]].append(Span(seconds_of(row["started_at"]), seconds_of(row["ended_at"])))
    return Truth(
        {row["event_id"]: row for row in tables["events"]},
        versions,
        {event: _union(spans) for event, spans in listings.items()},
        {plant: _union(spans) for plant, spans in outages.items()},
        tables["plant"],
    )


def _words(version: Row) -> tuple[object, ...]:
    names = (name for text in version["lines"] or () for name in text.split(","))
    lines = sorted(" ".join(name.split()) for name in names)
    return version["message"], version["cause"], ", ".join(lines)


def matched(connection: duckdb.DuckDBPyConnection, truth: Truth) -> tuple[dict[str, list[Row]], list[Row]]:
    """Return the published episodes of each event, and those of none.

    An episode is of an event of its category that was listed, in the words of the episode's first version,
    when that was first seen. Events of equal words are told apart by their start.
    """
    first: dict[str, Row] = {}
    for row in rows_of(
        connection, "select * from core.status_episode_versions order by episode_id, version_number"
    ):
        first.setdefault(row["episode_id"], row)
    in_words: dict[tuple[object, ...], list[Row]] = defaultdict(list)
    for versions in truth.versions.values():
        for version in versions:
            in_words[_words(version)].append(version)
    found: dict[str, list[Row]] = defaultdict(list)
    unmatched = []
    for episode in rows_of(connection, "select * from core.status_episodes order by first_seen_at"):
        version = first[episode["episode_id"]]
        seen = seconds_of(version["valid_from"])
        own = [
            each
            for each in in_words.get(_words(version), [])
            if seconds_of(each["valid_from"]) <= seen < seconds_of(each["valid_to"])
            and truth.events[each["event_id"]]["category"] == version["category"]
            and any(span.start <= seen < span.end for span in truth.listings[each["event_id"]])
        ]
        of_start = [each for each in own if each["started_text"] == version["started_text"]] or own
        free = [each for each in of_start if each["event_id"] not in found] or of_start
        if free:
            found[free[0]["event_id"]].append(episode)
        else:
            unmatched.append(episode)
    return found, unmatched


def measure_episodes(
    month: Month, found: Mapping[str, Sequence[Row]], unmatched: Sequence[Row]
) -> Iterator[Measure]:
    """Compare episodes with events that were open for at least two polls."""
    recall = Measure("episodes: recall (one episode for each event)", ">= 99 %")
    precision = Measure("episodes: precision", ">= 99 %")
    listing = Measure("listing begins and ends inside its interval", "100 %")
    of_class: dict[str, Measure] = {}
    for event_id, event in month.truth.events.items():
        spans = month.truth.listings.get(event_id, [])
        if sum(month.n_polls_in(span) for span in spans) < 2:
            continue
        own = found.get(event_id, [])
        is_one = len(own) == 1
        what = (event["category"], month.truth.versions[event_id][0]["message"], event["classes"], len(own))
        recall.count(is_one, what)
        for name in event["classes"] or ():
            of_class.setdefault(name, Measure(f"episodes: {name}", ">= 95 %")).count(is_one, what)
        if is_one:
            begins, ends = spans[0].start, spans[-1].end
            is_in_period = begins > month.polls[0]
            is_inside = (
                not is_in_period
                or _after(own[0]["listed_after"]) < begins <= seconds_of(own[0]["first_seen_at"])
            ) and seconds_of(own[0]["ended_after"]) < ends <= seconds_of(own[0]["ended_before"])
            listing.count(is_inside, (what, own[0]["first_seen_at"], own[0]["ended_before"]))
    for own in found.values():
        for number, episode in enumerate(own):
            precision.count(number == 0, ("again", episode["message"], episode["first_seen_at"]))
    for episode in unmatched:
        precision.count(False, ("of no event", episode["message"], episode["first_seen_at"]))
    yield from (recall, precision, *(of_class[name] for name in sorted(of_class)), listing)


def _after(at: datetime | None) -> float:
    return seconds_of(at, -math.inf)


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


def _told(month: Month) -> dict[str, list[Span]]:
    """Return when the operator called each line disrupted.

    That is from the start it told last, or from the edit that added the line, until the listing ended, or
    the edit that removed it.
    """
    codes: dict[str, list[str]] = defaultdict(list)
    for line in month.world.network.lines:
        codes[normal_label(line.number) or line.number].append(line.code)
    told: dict[str, list[Span]] = defaultdict(list)
    for event_id, versions in month.truth.versions.items():
        begins = seconds_of(versions[-1]["started_at"])
        spans = month.truth.listings.get(event_id)
        if not spans or versions[0]["plant_name"]:
            continue
        for number, version in enumerate(versions):
            start = begins if number == 0 else max(begins, seconds_of(version["valid_from"]))
            span = Span(start, min(seconds_of(version["valid_to"]), spans[-1].end))
            meant = set(version["line_codes"] or ())
            numbers = {
                normal_label(line.number) or line.number
                for line in month.world.network.lines
                if line.code in meant
            }
            for code in {code for number in numbers for code in codes[number]}:
                told[code].append(span)
    return {code: _union(spans) for code, spans in told.items()}


def _unsure(month: Month) -> list[Span]:
    """Return when an answer may tell one thing and the next another: boundaries, edits, flaps, two starts."""
    spans = []
    for event_id, listed in month.truth.listings.items():
        versions = month.truth.versions[event_id]
        spans += [Span(at, at + 1) for at in (listed[0].start, listed[-1].end)]
        spans += [Span(at, at + 1) for at in (seconds_of(version["valid_from"]) for version in versions)]
        spans += _told_twice(month, event_id)
    return _union(spans)


def _told_twice(month: Month, event_id: str) -> list[Span]:
    """Return when an event was once listed and once not, or was under way by one start and not by another."""
    starts = [seconds_of(version["started_at"]) for version in month.truth.versions[event_id]]
    flaps = [Span(before.end, after.start) for before, after in pairwise(month.truth.listings[event_id])]
    return [*flaps, Span(min(starts), max(starts) + 1)]


def measure_minutes(month: Month) -> Iterator[Measure]:
    """Compare the minutes of every line and hour with the time in which its events lasted, as told."""
    told = _told(month)
    holds = Measure("line x date x hour: minutes inside [low, high]", ">= 99 %")
    eventful = Measure("the same, of hours with an event", ">= 99 %")
    narrow = Measure("watched hours without a boundary, a flap or an edit: low = high", "100 %")
    hours = {
        (row["service_date"], row["service_hour"]): (seconds_of(row["from_at"]), seconds_of(row["to_at"]))
        for row in month.rows("select service_date, service_hour, from_at, to_at from core.service_hours")
    }
    unsure = _unsure(month)
    cells = month.rows("select * from marts.disruption_minutes")
    for cell in cells:
        start, end = hours[cell["service_date"], cell["service_hour"]]
        true = _overlap(told.get(cell["line_code"], []), start, end)
        is_right = cell["low_seconds"] - 1 <= true <= cell["high_seconds"] + 1
        names = ("line_code", "service_date", "service_hour", "low_seconds", "high_seconds")
        what = (*(cell[name] for name in names), round(true))
        holds.count(is_right, what)
        if cell["has_episode"] or true:
            eventful.count(is_right, what)
        has_boundary = any(span.start < end + 120 and span.end > start - 120 for span in unsure)
        if cell["watched_seconds"] >= cell["hour_seconds"] - 1 and not has_boundary:
            narrow.count(cell["high_seconds"] - cell["low_seconds"] <= 2, what)
    print(f"{len(cells):,} cells of {len(hours)} hours")
    yield from (holds, eventful, narrow)


def _plain(name: str | None) -> str:
    return " ".join((name or "").split())


def measure_lifts(month: Month) -> Iterator[Measure]:
    """Compare the availability of plant by month, and the median time to repair, with the true outages."""
    plant_of = {
        (row["category"], _plain(spelling)): row["plant_id"]
        for row in month.truth.plant
        for spelling in (row["name"], *(row["spellings"] or ()))
    }
    named = Measure("plant: each is named once", "100 %")
    names: dict[object, set[str]] = defaultdict(set)
    for row in month.rows("select * from core.plant"):
        names[plant_of.get((row["category"], _plain(row["plant"])))].add(row["plant"])
    for plant, found in names.items():
        named.count(plant is not None and len(found) == 1, (plant, found))
    periods = _periods(month)
    yield named
    yield from _measure_availability(month, plant_of, periods)
    yield _measure_repairs(month, plant_of, periods)


def _periods(month: Month) -> dict[str, list[Span]]:
    """Return the stretches of time of each month, of the dates that are over."""
    dates = month.rows("select * from core.closed_dates")
    closed = {row["service_date"]: row["month_period"] for row in dates}
    periods: dict[str, list[Span]] = defaultdict(list)
    for row in month.rows("select from_at, to_at, service_date from core.service_hours"):
        if row["service_date"] in closed:
            span = Span(seconds_of(row["from_at"]), seconds_of(row["to_at"]))
            periods[closed[row["service_date"]]].append(span)
    return {period: _union(found) for period, found in periods.items()}


def _measure_availability(
    month: Month, plant_of: Mapping[tuple[str, str], str], periods: Mapping[str, list[Span]]
) -> Iterator[Measure]:
    holds = Measure("lift x month: the true time out of use inside its bounds", "100 %")
    narrow = Measure(
        "lift x month: width <= absence of the collector, 17 minutes a listing, flaps, two starts", "100 %"
    )
    answered = [-math.inf, *month.polls, math.inf]
    away = [
        Span(start - TOLD_LATE_SECONDS, end)
        for start, end in pairwise(answered)
        if end - start > 1.5 * POLL_SECONDS
    ]
    for row in month.rows(
        "select * from intermediate.lift_availability_monthly where definition = 'all_hours'"
    ):
        plant = plant_of.get((row["category"], _plain(row["lift"])), "")
        own = month.truth.outages.get(plant, [])
        period = periods[row["month_period"]]
        out = sum(_overlap(own, span.start, span.end) for span in period)
        low, high = row["out_low_seconds"], row["out_high_seconds"]
        what = (row["lift"], row["month_period"], out, low, high)
        holds.count(low - 1 <= out <= high + 1, what)
        events = [
            event_id for event_id in month.truth.listings if month.truth.events[event_id]["plant_id"] == plant
        ]
        listed = [month.truth.listings[event_id] for event_id in events]
        unsure = _union([*away, *(span for event_id in events for span in _told_twice(month, event_id))])
        allowed = sum(_overlap(unsure, span.start, span.end) for span in period)
        begins, ends = period[0].start - POLL_SECONDS, period[-1].end + POLL_SECONDS + TOLD_LATE_SECONDS
        n_listings = sum(_overlap([each], begins, ends) > 0 for spans in listed for each in spans)
        allowed += (2 * POLL_SECONDS + TOLD_LATE_SECONDS) * n_listings
        narrow.count(high - low <= allowed, (*what, allowed))
    yield from (holds, narrow)


def _measure_repairs(
    month: Month, plant_of: Mapping[tuple[str, str], str], periods: Mapping[str, list[Span]]
) -> Measure:
    repair = Measure("time to repair: interval of the median holds (category or lift x month)", ">= 92 %")
    durations: dict[tuple[str, str, str | None], list[float]] = defaultdict(list)
    for plant in month.truth.plant:
        for period, found in periods.items():
            for span in month.truth.outages.get(plant["plant_id"], []):
                if any(each.start <= span.start < each.end for each in found):
                    for lift in (plant["plant_id"], None):
                        durations[period, plant["category"], lift].append(span.end - span.start)
    for row in month.rows(
        "select * from marts.lift_reliability where definition = 'all_hours' and period != 'all' "
        "and repair_low_seconds is not null"
    ):
        lift = plant_of.get((row["category"], _plain(row["lift"]))) if row["lift"] else None
        true = sorted(durations[row["period"], row["category"], lift])
        if true:
            median, high = true[len(true) // 2], row["repair_high_seconds"] or math.inf
            holds = row["repair_low_seconds"] - 1 <= median + TOLD_LATE_SECONDS and median <= high + 1
            repair.count(holds, (row["lift"], median, row["repair_low_seconds"], high))
    return repair


def measures_in(options: argparse.Namespace, folder: Path) -> Iterator[Measure]:
    """Measure a month."""
    month = month_of(options, folder)
    found, unmatched = matched(month.connection, month.truth)
    yield from measure_episodes(month, found, unmatched)
    yield from measure_minutes(month)
    yield from measure_lifts(month)
    period = Span(month.polls[0], month.polls[-1])
    yield from measure_news(month.connection, month.truth_folder, found, period)


if __name__ == "__main__":
    measure(options_of("city", date(2026, 10, 12), days=30).parse_args(), measures_in)
