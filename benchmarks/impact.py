"""Measure published impacts of disruptions and kept promises against an emulated world without disruptions.

    python benchmarks/impact.py [--size small] [--start 2026-09-28] [--days 36] [--rate 20] [--data FOLDER]

Rehearses five weeks, builds, and compares:

- the impact of each episode of over four hours on the share of passages on time, with the true one: that of
  the same calls by the same draws, if no event had disturbed any line. Episodes in which the line was in
  another event as well are left out, since the truth knows no world without just one of two events;
- the share delivered of what was promised at 18:00 of the day before, and what became of each departure, with
  the trips of the timetable that was then in force;
- by line, direction and month, the share of the departures that ran (`headline.trips_delivered`), with the
  trips of the timetable of each date.

The comparison shares no SQL with the warehouse. With --data a rehearsal that was kept is measured again.
"""

import argparse
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import duckdb

from benchmarks.disruptions import Truth, matched, read_truth
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
from benchmarks.promises import Timetables, trips_at
from transit_emulator.truth import write_truth
from transit_etl.settings import Settings

LONG_SECONDS = 4 * 3600.0
THREE_WEEKS = 21 * 24 * 3600.0
HALF_AN_HOUR = 1800.0
EARLY_SECONDS, LATE_SECONDS = -60, 359  # of the ruleset in force
RUNNING = ("run", "tracking_lost", "never_tracked")


@dataclass(frozen=True)
class Calls:
    """The calls of a line in the order in which they were due: when, and how late with and without events."""

    due: list[float]
    delay: list[float]
    delay_without: list[float]

    def shares(self, span: Span) -> tuple[int, float, float]:
        """Return how many calls were due in a stretch of time, were on time, and would have been."""
        first, last = bisect_left(self.due, span.start), bisect_left(self.due, span.end)
        with_events = sum(map(is_on_time, self.delay[first:last]))
        return last - first, with_events, sum(map(is_on_time, self.delay_without[first:last]))


@dataclass(frozen=True)
class Weeks:
    """What was rehearsed, with its truth; it begins at an instant, in seconds since 1970."""

    begins: float
    connection: duckdb.DuckDBPyConnection
    truth: Truth
    calls: Mapping[str, Calls]
    timetables: Timetables
    outcomes: Mapping[date, Mapping[str, str]]
    trips: Path


def is_on_time(delay: float) -> bool:
    """Tell whether a delay in seconds is within the band of the ruleset."""
    return EARLY_SECONDS <= delay <= LATE_SECONDS


def weeks_of(options: argparse.Namespace, folder: Path) -> Weeks:
    """Rehearse the weeks, unless the folder has them, build them, and return them with their truth."""
    settings = Settings(data_dir=folder, rate_per_minute=options.rate)
    days = rehearsed(options, settings)
    begins = starts_at(options, settings).timestamp()
    truth, connection = folder / "truth", days.connection
    if not (truth / "actual_passages.parquet").exists():
        only = ("events", "plant", "timetables", "passages")
        write_truth(days.world, days.first, days.last, truth, only=only, has_counterfactual=True)
    outcomes: dict[date, dict[str, str]] = defaultdict(dict)
    query = "select service_date, trip_id, outcome from read_parquet(?)"
    for row in rows_of(connection, query, str(truth / "trips.parquet")):
        outcomes[row["service_date"]][row["trip_id"]] = row["outcome"]
    timetables = Timetables(truth / "timetable_versions.parquet")
    calls = _calls(connection, truth)
    return Weeks(begins, connection, read_truth(truth), calls, timetables, outcomes, truth / "trips.parquet")


def _calls(connection: duckdb.DuckDBPyConnection, truth: Path) -> dict[str, Calls]:
    """Return the calls of each line that happened; the two tables are of the emulator."""
    query = """
        select scheduled.line_code, epoch(scheduled_at) as due, epoch(passed_at) as passed,
            epoch(coalesce(passed_at_without_event, passed_at)) as passed_without
        from read_parquet(?) as scheduled
        inner join read_parquet(?) using (service_date, trip_id, stop_code, stop_sequence)
        order by due
    """
    files = (str(truth / "scheduled_passages.parquet"), str(truth / "actual_passages.parquet"))
    found: dict[str, Calls] = defaultdict(lambda: Calls([], [], []))
    for line, due, passed, without in connection.execute(query, files).fetchall():
        found[line].due.append(due)
        found[line].delay.append(passed - due)
        found[line].delay_without.append(without - due)
    return found


def measure_impact(weeks: Weeks) -> Iterator[Measure]:
    """Compare the impact on the share on time of every long episode with the true one."""
    holds = Measure("impact: the true one inside the 95 % interval", "90 to 99 %")
    given = Measure("impact given, of episodes over 4 h on lines with service", ">= 60 %")
    late = Measure("the same, of those that begin after three weeks of collecting", "")
    sign = Measure("of intervals without 0: the true impact has their sign", "")
    hours = [
        Span(seconds_of(row["from_at"]), seconds_of(row["to_at"]))
        for row in rows_of(weeks.connection, "select from_at, to_at from core.service_hours order by from_at")
    ]
    widths = []
    for event_id, line, row in _long_episodes(weeks):
        event = weeks.truth.events[event_id]
        what = (event["event"], line, event["started_at"], event["ended_at"], row["null_reason"])
        given.count(row["impact"] is not None, what)
        if seconds_of(event["started_at"]) >= weeks.begins + THREE_WEEKS:
            late.count(row["impact"] is not None, what)
        if row["impact"] is None:
            continue
        span = Span(seconds_of(row["from_at"]), seconds_of(row["to_at"]))
        true = _true_impact(weeks, event_id, line, _covered(hours, span))
        if true is None:
            continue
        widths.append(row["impact_high"] - row["impact_low"])
        told = (what, round(true, 3), *(round(row[f"impact{end}"], 3) for end in ("", "_low", "_high")))
        holds.count(row["impact_low"] - 1e-9 <= true <= row["impact_high"] + 1e-9, told)
        if row["impact_low"] > 0 or row["impact_high"] < 0:
            sign.count(true * row["impact"] > 0, told)
    if widths:
        print(f"median width of an interval of an impact: {sorted(widths)[len(widths) // 2]:.3f}")
    yield from (holds, given, late, sign)
    for row in rows_of(weeks.connection, "select * from marts.impact_placebo order by metric"):
        placebo = Measure(f"placebo, {row['metric']}: intervals without 0", "3 to 7 %")
        placebo.n_right, placebo.n = row["n_apart"], row["n_placebos"]
        yield placebo


def _long_episodes(weeks: Weeks) -> Iterator[tuple[str, str, Row]]:
    """Return event, line and published impact of each event of over four hours that is one episode.

    Those in whose hours nothing was due or asked for are left out.
    """
    query = (
        "select * from marts.disruption_impact where metric = 'on_time_share' "
        "and null_reason is distinct from 'nothing due while polled'"
    )
    published = {(row["episode_id"], row["line_code"]): row for row in rows_of(weeks.connection, query)}
    episodes, _ = matched(weeks.connection, weeks.truth)
    for event_id, own in episodes.items():
        event = weeks.truth.events[event_id]
        if event["started_at"] is None or event["plant_id"] or len(own) != 1:
            continue
        if seconds_of(event["ended_at"]) - seconds_of(event["started_at"]) > LONG_SECONDS:
            for line in event["line_codes"]:
                if row := published.get((own[0]["episode_id"], line)):
                    yield event_id, line, row


def _covered(hours: Sequence[Span], span: Span) -> list[Span]:
    first = bisect_right(hours, Span(span.start - LONG_SECONDS, 0.0))
    near = hours[first : bisect_left(hours, Span(span.end, 0.0))]
    return [hour for hour in near if min(hour.end, span.end) - max(hour.start, span.start) >= HALF_AN_HOUR]


def _true_impact(weeks: Weeks, event_id: str, line: str, hours: Sequence[Span]) -> float | None:
    """Return the true impact; None if another event disturbed the line, or nothing was due."""
    for other_id, other in weeks.truth.events.items():
        if other_id == event_id or line not in other["line_codes"] or other["started_at"] is None:
            continue
        begins, ends = seconds_of(other["started_at"]), seconds_of(other["ended_at"])
        if any(begins < hour.end and ends > hour.start for hour in hours):
            return None
    counted = [weeks.calls[line].shares(hour) for hour in hours] if line in weeks.calls else []
    n = sum(n for n, _, _ in counted)
    return sum(was - would for _, was, would in counted) / n if n else None


def measure_promises(weeks: Weeks) -> Iterator[Measure]:
    """Compare the share delivered of what was promised the evening before, and the fate of departures."""
    holds = Measure("delivered share of the promise: the true one inside [low, high]", ">= 99 %")
    told = Measure("delivered share of the promise: told", "")
    certain = Measure("delivered share of the promise: low = high", "")
    query = (
        "select * from marts.promises_kept where service_date in (select service_date from core.closed_dates)"
    )
    rows = rows_of(weeks.connection, query)
    for row in rows:
        if row["service_date"] not in weeks.outcomes:
            continue
        what = (row["service_date"], row["line_code"], row["direction"], row["null_reason"])
        told.count(row["null_reason"] is None, what)
        if row["null_reason"] is not None:
            continue
        promised = _promised(weeks, row)
        if not promised:
            holds.count(False, what)
            continue
        outcomes = weeks.outcomes[row["service_date"]]
        true = sum(outcomes.get(trip) in RUNNING for trip in promised) / len(promised)
        low, high = row["delivered_share_low"], row["delivered_share_high"]
        certain.count(high - low < 1e-9, what)
        holds.count(
            low - 1e-9 <= true <= high + 1e-9,
            (what, len(promised), row["n_promised"], round(true, 4), round(low, 4), round(high, 4)),
        )
    yield from (holds, told, certain)
    yield from _measure_fates(weeks)


def _promised(weeks: Weeks, row: Row) -> list[str]:
    versions = weeks.timetables.of(row["service_date"]).get(row["line_code"], [])
    trips = trips_at(versions, seconds_of(row["promise_at"]))
    return [trip_id for trip_id, trip in trips.items() if trip.direction == row["direction"]]


def _measure_fates(weeks: Weeks) -> Iterator[Measure]:
    measures = {fate: Measure(f"promised departure: fate {fate} is right", "") for fate in ("run", "not_run")}
    query = (
        "select * from core.promised_departures where is_promised_day_before and fate in ('run', 'not_run')"
    )
    for row in rows_of(weeks.connection, query):
        if row["service_date"] not in weeks.outcomes:
            continue
        versions = weeks.timetables.of(row["service_date"]).get(row["line_code"], [])
        trips = versions[-1].trips if versions else {}
        at = seconds_of(row["departure_at"])
        outcomes = weeks.outcomes[row["service_date"]]
        fates = {
            outcomes.get(trip_id) in RUNNING
            for trip_id, trip in trips.items()
            if trip.direction == row["direction"] and trip.departs_at == at
        }
        if fates:
            what = (row["service_date"], row["line_code"], row["direction"], row["departure_at"])
            measures[row["fate"]].count((row["fate"] == "run") in fates, what)
    yield from measures.values()


def measure_delivered(weeks: Weeks) -> Iterator[Measure]:
    """Compare the share of the departures that ran, by line, direction and month, with the true one."""
    holds = Measure("share that ran, line x direction x month: the true one inside [low, high]", ">= 95 %")
    exact = Measure("the same: figures within 0.2 points of the true share", "100 %")
    leans, widths = [], []
    n_cancelled = n_known = 0
    query = """
        with sums as (
            select month_period, line_code, direction, sum(n_scheduled_trips) as n, sum(n_run) as n_run,
                sum(n_not_run) as n_not_run
            from marts.service_delivered inner join core.closed_dates using (operator, service_date)
            group by all
        ), true_sums as (
            select month_period, line_code, direction, count(*) as n,
                count(*) filter (outcome = 'not_run') as n_not_run
            from read_parquet(?) inner join core.closed_dates using (service_date)
            where not is_added and scheduled_departure_at <= (
                select max(received_at) from core.requests where endpoint = 'passages' and is_good
            )
            group by all
        )
        select sums.*, true_sums.n_not_run as n_cancelled,
            1 - true_sums.n_not_run / true_sums.n as true_share,
            headlines.low, headlines.high, headlines.figure
        from sums
        inner join true_sums using (month_period, line_code, direction)
        -- which has names in place of codes, and rounds its bounds; rows of equal counts are alike
        inner join (
            select distinct period, low, high, figure, replace(sentence, ',', '') as words
            from headline.trips_delivered
        ) as headlines
            on headlines.period = sums.month_period
            and contains(headlines.words, format(
                'departures: {}; seen to run: {}; known not to have run: {};',
                sums.n, sums.n_run, sums.n_not_run
            ))
        order by all
    """
    for row in rows_of(weeks.connection, query, str(weeks.trips)):
        true, low, high, figure = (row[name] for name in ("true_share", "low", "high", "figure"))
        what = (row["month_period"], row["line_code"], row["direction"], low, round(true, 4), high, figure)
        holds.count(low - 1e-6 <= true <= high + 1e-6, what)
        if figure is not None:
            exact.count(abs(figure - true) <= 0.002, what)
        widths.append(row["high"] - row["low"])
        n_cancelled, n_known = n_cancelled + row["n_cancelled"], n_known + row["n_not_run"]
        if row["n_run"] + row["n_not_run"]:
            leans.append(row["n_run"] / (row["n_run"] + row["n_not_run"]) - true)
    print(
        f"departures that did not run: {n_cancelled}, known not to have run: {n_known}; median width of the "
        f"bounds: {100 * sorted(widths)[len(widths) // 2]:.1f} points; the share that ran of the known ones, "
        f"which is not published, would lean by {100 * sum(leans) / len(leans):+.2f} points"
    )
    yield from (holds, exact)


def measures_in(options: argparse.Namespace, folder: Path) -> Iterator[Measure]:
    """Measure some weeks."""
    weeks = weeks_of(options, folder)
    yield from measure_impact(weeks)
    yield from measure_promises(weeks)
    yield from measure_delivered(weeks)


if __name__ == "__main__":
    parser = options_of("small", date(2026, 9, 28), days=36)
    parser.add_argument("--rate", type=int, default=20, help="requests a minute")
    measure(parser.parse_args(), measures_in)
