"""Measure what is published of changed timetables against the truth of an emulated month, by trip.

    python benchmarks/promises.py [--size city] [--start 2026-08-31] [--days 30] [--seed 1] [--data FOLDER]

Rehearses the timetables of a month with a change of season, builds, and compares every published change with
what the emulator knows of each trip: between the instants of two answers about a line and date, which of its
trips were added, removed, moved or only edited, and when that was published. The comparison shares no SQL
with the warehouse: it reads plain tables and counts in Python. With --data a month that was rehearsed before
is measured again.
"""

import argparse
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import duckdb

from benchmarks.measures import Measure, measure, options_of, rehearsed, rows_of, seconds_of
from transit_emulator.truth import write_truth
from transit_etl.settings import Settings

NEVER = float("inf")
DAY = 24 * 3600
MEMORY_DAYS = 28  # a date further back is not compared with
SATURDAY = 5
AHEAD_DAYS = 16  # so far ahead timetables are asked for at most
CLASSES = ((0, "after_the_fact"), (DAY, "under_24_h"), (7 * DAY, "under_7_days"), (NEVER, "longer"))


class Trip(NamedTuple):
    """A departure of a version of a timetable."""

    direction: str
    departs_at: float
    headsign: str
    service_code: str


class Version(NamedTuple):
    """What the timetable of a line and date was from an instant until another, by trip."""

    published_at: float
    replaced_at: float
    trips: dict[str, Trip]


class Change(NamedTuple):
    """A changed departure, as it can be compared with a published row."""

    kind: str
    direction: str
    departs_at: float
    moved_to: float | None


class Told(NamedTuple):
    """A published change, its class of notice, and whether the times allow no other reading."""

    change: Change
    notice_class: str | None
    is_unambiguous: bool


@dataclass(frozen=True)
class Comparison:
    """How the trips of two versions differ, and when each difference was published."""

    expected: Counter[Change]
    published: dict[Change, set[float]]
    is_cosmetic: bool


class Timetables:
    """The truth about the versions of timetables, read one date at a time."""

    def __init__(self, file: Path) -> None:
        self._connection = duckdb.connect()
        self._file = str(file)
        self._dates: dict[date, dict[str, list[Version]]] = {}

    def of(self, day: date) -> dict[str, list[Version]]:
        """Return the versions of each line on a date."""
        if day not in self._dates:
            self._dates[day] = self._read(day)
        return self._dates[day]

    def forget_before(self, day: date) -> None:
        """Forget earlier dates."""
        self._dates = {each: versions for each, versions in self._dates.items() if each >= day}

    def _read(self, day: date) -> dict[str, list[Version]]:
        found: dict[str, dict[tuple[float, float], dict[str, Trip]]] = defaultdict(lambda: defaultdict(dict))
        query = "select * from read_parquet(?) where service_date = ?"
        for row in rows_of(self._connection, query, self._file, day):
            valid = (seconds_of(row["published_at"], -NEVER), seconds_of(row["replaced_at"]))
            found[row["line_code"]][valid][row["trip_id"]] = Trip(
                row["direction"],
                seconds_of(row["departure_at"]),
                row["headsign"],
                row["service_code"],
            )
        return {
            line: [Version(*valid, trips) for valid, trips in sorted(versions.items())]
            for line, versions in found.items()
        }


def trips_at(versions: Sequence[Version], at: float) -> dict[str, Trip]:
    """Return the trips of the version in force at an instant."""
    return next((each.trips for each in versions if each.published_at <= at < each.replaced_at), {})


def published_at(versions: Sequence[Version], trip_id: str, after: float, until: float) -> set[float]:
    """Return when a trip changed in a stretch of time."""
    ordered = [each for each in versions if each.published_at <= until and each.replaced_at > after]
    return {
        later.published_at
        for earlier, later in pairwise(ordered)
        if earlier.trips.get(trip_id) != later.trips.get(trip_id)
    }


def compare(
    before: Mapping[str, Trip], after: Mapping[str, Trip], *, has_service_codes: bool
) -> Iterator[tuple[str, Change]]:
    """Yield the trips that differ, with their change."""
    for trip_id in before.keys() | after.keys():
        old, new = before.get(trip_id), after.get(trip_id)
        if old is None or new is None:
            there = old or new
            assert there is not None
            kind = "added" if old is None else "removed"
            yield trip_id, Change(kind, there.direction, there.departs_at, None)
        elif old.departs_at != new.departs_at:
            yield trip_id, Change("moved", old.direction, old.departs_at, new.departs_at)
        elif old.headsign != new.headsign or (has_service_codes and old.service_code != new.service_code):
            yield trip_id, Change("edited", old.direction, old.departs_at, None)


def class_of(notice_seconds: float) -> str:
    """Return the class of a notice."""
    return next(name for limit, name in CLASSES if notice_seconds < limit)


def type_of_day(day: date) -> int:
    """Tell working days, Saturdays and Sundays apart."""
    return max(day.weekday(), SATURDAY - 1)


def on_date(at: float, days: int, zone: ZoneInfo) -> float:
    """Return the instant at the same time of a clock some days later."""
    local = datetime.fromtimestamp(at, zone)
    return (local.replace(tzinfo=None) + timedelta(days=days)).replace(tzinfo=zone).timestamp()


@dataclass(frozen=True)
class Month:
    """What was rehearsed: its zone, the truth, and when each date of a line was answered about.

    proofs: when the first answer came that is held to prove what it does not list.
    """

    zone: ZoneInfo
    timetables: Timetables
    answers: dict[date, dict[str, list[float]]]
    proofs: dict[tuple[date, str], float]
    connection: duckdb.DuckDBPyConnection


def month_of(options: argparse.Namespace, folder: Path) -> Month:
    """Rehearse the month, unless the folder has it, build it, and return it with its truth."""
    settings = Settings(data_dir=folder)
    days = rehearsed(options, settings, ("timetables", "network"))
    truth = folder / "truth" / "timetable_versions.parquet"
    if not truth.exists():
        last = days.last + timedelta(days=AHEAD_DAYS)
        write_truth(days.world, days.first, last, folder / "truth", only=("timetables",))
    answers: dict[date, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    query = "select * from intermediate.timetable_answers where is_complete order by received_at"
    for row in rows_of(days.connection, query):
        answers[row["service_date"]][row["line_code"]].append(seconds_of(row["received_at"]))
    query = "select * from intermediate.timetable_proofs where proves_absence order by received_at desc"
    proofs = {
        (row["service_date"], row["line_code"]): seconds_of(row["received_at"])
        for row in rows_of(days.connection, query)
    }
    return Month(settings.zone, Timetables(truth), answers, proofs, days.connection)


def same_date(month: Month, day: date, line: str) -> Iterator[tuple[float, Comparison]]:
    """Yield, for each answer but the first, how the timetable had changed since the last one."""
    versions = month.timetables.of(day).get(line, [])
    for earlier, later in pairwise(month.answers[day][line]):
        before, after = trips_at(versions, earlier), trips_at(versions, later)
        if before is after:
            continue
        expected: Counter[Change] = Counter()
        published: dict[Change, set[float]] = defaultdict(set)
        for trip_id, change in compare(before, after, has_service_codes=True):
            expected[change] += 1
            published[change] |= published_at(versions, trip_id, earlier, later)
        is_cosmetic = bool(expected) and {change.kind for change in expected} == {"edited"}
        yield later, Comparison(expected, published, is_cosmetic)


def comparable_date(month: Month, day: date, line: str) -> tuple[float, Comparison] | None:
    """Return how the first answer about a date differs from what was known of the last date of its type."""
    first = month.proofs.get((day, line), NEVER)
    earlier = [day - timedelta(days=back) for back in range(1, MEMORY_DAYS + 1)]
    known = (
        each
        for each in earlier
        if type_of_day(each) == type_of_day(day)
        and month.answers.get(each, {}).get(line, [NEVER])[0] <= first
    )
    other = next(known, None)
    if other is None or first == NEVER:
        return None
    answers = month.answers[other][line]
    told_at = answers[bisect_right(answers, first) - 1]
    days = (day - other).days
    before = {
        trip_id: trip._replace(departs_at=on_date(trip.departs_at, days, month.zone))
        for trip_id, trip in trips_at(month.timetables.of(other).get(line, []), told_at).items()
    }
    versions = month.timetables.of(day).get(line, [])
    after = trips_at(versions, first)
    expected: Counter[Change] = Counter()
    published: dict[Change, set[float]] = defaultdict(set)
    for _, change in compare(before, after, has_service_codes=False):
        expected[change] += 1
        published[change] |= {versions[0].replaced_at} if len(versions) > 1 else set()
    return first, Comparison(expected, published, is_cosmetic=False)


def published_changes(month: Month, day: date) -> dict[tuple[str, str, float], list[Told]]:
    """Return the published changes of a date by what it is compared with, line and answer."""
    found: dict[tuple[str, str, float], list[Told]] = defaultdict(list)
    query = "select * from marts.timetable_changes where service_date = ?"
    for row in rows_of(month.connection, query, day):
        moved_to = None if row["moved_to_at"] is None else seconds_of(row["moved_to_at"])
        change = Change(row["change"], row["direction"], seconds_of(row["departure_at"]), moved_to)
        key = (row["compared_with"], row["line_code"], seconds_of(row["changed_at"]))
        found[key].append(Told(change, row["notice_class"], row["is_unambiguous"]))
    return found


class Figures:
    """What is measured of changes."""

    def __init__(self) -> None:
        self.by_kind: dict[tuple[str, str], tuple[Measure, Measure]] = {}
        self.departures = (
            Measure("added, removed, moved: precision", ">= 99.5 %"),
            Measure("added, removed, moved: recall", ">= 99.5 %"),
        )
        self.unambiguous = Measure("of those without another reading: precision", ">= 99.5 %")
        self.without_another = Measure("those without another reading", "")
        self.notice = Measure("class of notice, where one is told", ">= 99 %")
        self.told = Measure("a class of notice is told", "")
        self.cosmetic = Measure("cosmetic edits that no departure is read from", "100 %")

    def all(self) -> list[Measure]:
        """Return the measures in order."""
        kinds = [measure for _, pair in sorted(self.by_kind.items()) for measure in pair]
        certain = (self.unambiguous, self.without_another)
        return [*self.departures, *certain, *kinds, self.notice, self.told, self.cosmetic]

    def count(self, name: str, comparison: Comparison, published: list[Told], what: object) -> None:
        """Count one comparison: an answer about a line and date with another one."""
        found = Counter(told.change for told in published)
        for change in found.keys() | comparison.expected.keys():
            n_right = min(found[change], comparison.expected[change])
            pairs = [self._of_kind(name, change.kind)]
            pairs += [self.departures] if change.kind != "edited" else []
            for precision, recall in pairs:
                for each, n in ((precision, found[change]), (recall, comparison.expected[change])):
                    each.count(True, n=n_right)
                    if n > n_right:
                        each.count(False, (what, change), n=n - n_right)
        for told in published:
            if told.change.kind == "edited":
                continue
            is_right = told.change in comparison.expected
            self.without_another.count(told.is_unambiguous)
            if told.is_unambiguous:
                self.unambiguous.count(is_right, (what, told.change))
            if is_right:
                self._count_notice(told.change, told.notice_class, comparison.published[told.change], what)
        if comparison.is_cosmetic:
            self.cosmetic.count({change.kind for change in found} <= {"edited"}, what)

    def _count_notice(self, change: Change, told: str | None, instants: set[float], what: object) -> None:
        self.told.count(told is not None, (what, change))
        if told is not None and instants:
            classes = {class_of(change.departs_at - at) for at in instants}
            self.notice.count(told in classes, (what, change, told, classes))

    def _of_kind(self, name: str, kind: str) -> tuple[Measure, Measure]:
        if (name, kind) not in self.by_kind:
            of = f"against {name.replace('_', ' ')}: {kind}"
            self.by_kind[name, kind] = (Measure(f"{of}, precision", ""), Measure(f"{of}, recall", ""))
        return self.by_kind[name, kind]


def measure_changes(month: Month) -> list[Measure]:
    """Compare all changes of all dates that were asked about."""
    figures = Figures()
    for day in sorted(month.answers):
        published = published_changes(month, day)
        for line in month.answers[day]:
            found = [("same_date", at, comparison) for at, comparison in same_date(month, day, line)]
            first = comparable_date(month, day, line)
            found += [("comparable_date", *first)] if first else []
            for name, at, comparison in found:
                own = published.pop((name, line, at), [])
                figures.count(name, comparison, own, (day, line, datetime.fromtimestamp(at, UTC)))
        for (name, line, at), rows in published.items():
            nothing = Comparison(Counter(), {}, is_cosmetic=False)
            figures.count(name, nothing, rows, (day, line, datetime.fromtimestamp(at, UTC)))
        month.timetables.forget_before(day - timedelta(days=MEMORY_DAYS))
    return figures.all()


def measures_in(options: argparse.Namespace, folder: Path) -> list[Measure]:
    """Measure a month."""
    return measure_changes(month_of(options, folder))


if __name__ == "__main__":
    measure(options_of("city", date(2026, 8, 31), days=30).parse_args(), measures_in)
