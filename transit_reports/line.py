"""The page of a line: both directions, by date, hour and weekday, along the route, and what did not run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from transit_reports import charts
from transit_reports.disruptions import disruption_rows
from transit_reports.figures import Column, Figure, heat_class, precision_label, with_ends
from transit_reports.page import Page
from transit_reports.queries import Answer, Row
from transit_reports.report import LineKey, Report, line_page
from transit_reports.words import count_of, known_text, on_time_citation, reason_text, share_with_interval

WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_FEWEST_OF_STOP = 5  # observed passages, for a quarter of them to say anything
_VERY_LATE = 10  # minutes
_PARTS = [
    Column("part", "When"),
    Column("on_time", "On time", "share", "interval"),
    Column("early", "Early", "share", "interval"),
    Column("late", "Late", "share", "interval"),
    Column("mean_delay", "Mean delay", "seconds", "interval"),
    Column("n_due", "Passages due", "count"),
    Column("observed_share", "Observed", "share"),
    Column("label", "Precision"),
]
_DATES = [
    Column("service_date", "Date", "date"),
    Column("on_time", "On time", "share", "interval"),
    Column("mean_delay", "Mean delay", "seconds", "interval"),
    Column("n_due", "Passages due", "count"),
    Column("observed_share", "Observed", "share"),
]
_HOURS = [
    Column("weekday", "Weekday (1 is Monday)", "count"),
    Column("service_hour", "Hour", "count"),
    Column("on_time", "On time", "share", "interval"),
    Column("n_due", "Passages due", "count"),
]
_ROUTE = [
    Column("stop_sequence", "Position", "count"),
    Column("stop", "Stop", link="stop_page"),
    Column("median_delay", "Median delay", "seconds"),
    Column("quarter_delay", "A quarter had less than", "seconds"),
    Column("three_quarters_delay", "A quarter had more than", "seconds"),
    Column("n_observed", "Observed", "count"),
    Column("n_due", "Due", "count"),
]
_DELAYS = [Column("delay_minutes", "Minutes late", "count"), Column("n_passages", "Passages", "count")]
_WAITS = [
    Column("service_date", "Date", "date"),
    Column("excess_wait", "Excess wait", "seconds", "interval"),
    Column("bunched", "Bunched", "share", "interval"),
    Column("gaps", "Gaps", "share", "interval"),
]
_NOT_RUN = [
    Column("towards", "Towards"),
    Column("service_date", "Date", "date"),
    Column("departs_at", "Departure", "time"),
    Column("headsign", "Sign"),
]
_COUNTDOWNS = [
    Column("ahead", "Minutes ahead"),
    Column("within", "Within the band", "share", "interval"),
    Column("too_early", "Bus came too early", "share"),
    Column("too_late", "Bus came too late", "share"),
    Column("n_judged", "Judged", "count"),
]
_DISRUPTIONS = [
    Column("event", "What"),
    Column("cause", "Cause given"),
    Column("begun", "From", "time"),
    Column("ended", "To", "time"),
    Column("minutes", "Minutes", "minutes", "hard"),
    Column("message", "Message"),
]
_CHANGES = [
    Column("towards", "Towards"),
    Column("service_date", "Date of service", "date"),
    Column("changed", "Seen", "time"),
    Column("n_added", "Departures added", "count"),
    Column("n_withdrawn", "Withdrawn", "count"),
    Column("n_withdrawn_after_due", "Withdrawn after their time", "count"),
]


def lines_with_pages(report: Report) -> list[str]:
    """Return the codes of the lines that have a page."""
    return sorted({row["line_code"] for row in report.ask("lines").rows if report.is_asked(row["line_code"])})


def line_of(report: Report, code: str, reasons: dict[str, str]) -> Page:
    """Return the page of a line."""
    keys = [(code, row["direction"]) for row in report.of("lines", line_code=code).rows]
    directions = [_Direction(report, key, reasons).values() for key in keys]
    common = [*_common(report, code, keys)]
    figures = [figure for values in directions for figure in values["figures"]] + common
    name = report.line_name(*keys[0])
    values = {"name": name, "directions": directions, "common": common}
    return Page(line_page(code), "line.html", f"Line {name}", values, figures)


class _Direction:
    """What is shown of a direction of a line."""

    def __init__(self, report: Report, key: LineKey, reasons: dict[str, str]) -> None:
        self._report, self._key, self._reasons = report, key, reasons
        self._towards = report.towards(*key)
        self._subject = f"line {report.line_name(*key)} towards {self._towards}"

    def values(self) -> dict[str, Any]:
        """Return all that the template shows."""
        [row] = self._ask("lines").rows
        parts, hours = self._parts(row), self._hours()
        figures = [
            parts,
            self._dates(row),
            hours,
            self._route(),
            self._distribution(),
            self._waits(),
        ]
        return {
            "towards": self._towards,
            "id": self._key[1],
            "answer": self._answer(row),
            "known": known_text(row),
            "trips": self._trips(),
            "figures": figures,
            "parts": parts,
            "hours": hours,
            "heat": _heat(hours.rows),
            "others": [figure for figure in figures if figure not in (parts, hours)],
        }

    def _ask(self, name: str) -> Answer:
        return self._report.of(name, line_code=self._key[0], direction=self._key[1])

    def _figure(  # noqa: PLR0917 - in the order in which a figure is read
        self,
        name: str,
        title: str,
        reading: str,
        columns: Sequence[Column],
        answer: Answer,
        definition: str,
        rows: Sequence[Row] | None = None,
    ) -> Figure:
        return Figure(
            f"{name}-{self._key[1]}",
            f"{title}, towards {self._towards}",
            reading,
            columns,
            answer.rows if rows is None else rows,
            answer.sql,
            definition,
        )

    def _answer(self, row: Row) -> str:
        if row["on_time"] is None:
            return f"How punctual it was is not known: {reason_text(row, self._reasons)}."
        return (
            f"{share_with_interval(row, 'on_time')} of its passages were on time {self._report.period.when}."
        )

    def _trips(self) -> str:
        rows = self._ask("delivered").rows
        if not rows:
            return "No departure was in force."
        trips = rows[0]
        ends = with_ends(None, trips["delivered_low"], trips["delivered_high"], "share", "hard")
        return (
            f"Of {count_of(trips['n_departures'], 'departure')} {trips['n_run']:,} were seen to run "
            f"and {trips['n_not_run']:,} surely did not: {ends} ran (hard bounds)."
        )

    def _parts(self, row: Row) -> Figure:
        answer = self._ask("lines_by_part_of_week")
        rows = [{**each, "label": precision_label(each)} for each in [{**row, "part": "all"}, *answer.rows]]
        figure = self._figure(
            "weekdays", "Weekdays and weekends", self._answer(row), _PARTS, answer, "on-time", rows
        )
        return replace(figure, citation=on_time_citation(self._report, row, self._subject, self._reasons))

    def _dates(self, row: Row) -> Figure:
        answer = self._ask("lines_by_date")
        known = {each["service_date"]: each for each in answer.rows}
        dates = self._report.period.dates
        empty = dict.fromkeys(
            ["on_time", "on_time_low", "on_time_high", "mean_delay", "n_due", "observed_share"]
        )
        days = (dates.first + timedelta(days=number) for number in range(dates.n_dates))
        rows = [known.get(day, empty | {"service_date": day}) for day in days]
        n_told = sum(each["on_time"] is not None for each in rows)
        reading = (
            f"{self._answer(row)} On {n_told} of {len(rows)} dates enough is known for a share of its own."
        )
        figure = self._figure("dates", "Date by date", reading, _DATES, answer, "on-time", rows)
        return replace(
            figure, drawing=charts.share_by_date(rows, "on_time", reading) if len(rows) > 1 else None
        )

    def _hours(self) -> Figure:
        answer = self._ask("lines_by_hour")
        told = [row for row in answer.rows if row["on_time"] is not None]
        reading = "Of no hour enough is known."
        if told:
            worst = min(told, key=lambda row: row["on_time_high"])
            reading = (
                f"Of {len(told)} of {len(answer.rows)} hours of weekdays enough is known. Surely bad was "
                f"{WEEKDAYS[worst['weekday'] - 1]} {_clock_hour(worst['service_hour'])}: "
                f"{share_with_interval(worst, 'on_time')} on time."
            )
        return self._figure("hours", "By hour and weekday", reading, _HOURS, answer, "on-time")

    def _route(self) -> Figure:
        answer = self._ask("route_delays")
        rows = self._report.with_stops(_main_stops(answer.rows), "../../")
        told = [row for row in rows if row["n_observed"] >= _FEWEST_OF_STOP]
        reading = "At no stop enough passages were observed."
        if told:
            most = max(told, key=lambda row: row["median_delay"])
            reading = (
                f"Half of the observed passages lie in the band; the median is largest at {most['stop']}: "
                f"{most['median_delay'] / 60:.1f} min late. These are passages that were observed, not all."
            )
        figure = self._figure("route", "Delay along the route", reading, _ROUTE, answer, "observed", rows)
        return replace(figure, drawing=charts.along_a_route(told, reading) if len(told) > 1 else None)

    def _distribution(self) -> Figure:
        answer = self._ask("delay_distribution")
        n_all = sum(row["n_passages"] for row in answer.rows)
        n_late = sum(row["n_passages"] for row in answer.rows if row["delay_minutes"] >= _VERY_LATE)
        reading = "No passage was observed."
        if n_all:
            reading = (
                f"Of {n_all:,} observed passages {100 * n_late / n_all:.0f} % were {_VERY_LATE} minutes late "
                "or more. Those that nobody observed are not in it."
            )
        figure = self._figure("delays", "How late", reading, _DELAYS, answer, "observed")
        return replace(figure, drawing=charts.distribution(answer.rows, reading) if n_all else None)

    def _waits(self) -> Figure:
        sums, answer = self._ask("line_waits").rows, self._ask("line_waits_by_date")
        if not sums:
            reading = "Its service is not frequent: riders go by the timetable, and waits are not judged."
        elif sums[0]["excess_wait"] is None:
            reading = f"Waits are not known: {reason_text(sums[0], self._reasons)}."
        else:
            row = sums[0]
            wait = with_ends(
                row["excess_wait"], row["excess_wait_low"], row["excess_wait_high"], "seconds", "interval"
            )
            reading = f"Where it is frequent, riders waited {wait} longer than by the timetable, on average."
            if row["bunched"] is not None:
                reading += f" {share_with_interval(row, 'bunched')} of the headways were bunched."
        figure = self._figure("waits", "Headways and waits", reading, _WAITS, answer, "waits")
        is_drawn = sum(row["bunched"] is not None for row in answer.rows) > 1
        drawing = charts.share_by_date(answer.rows, "bunched", f"Bunched headways by date. {reading}")
        return replace(figure, drawing=drawing if is_drawn else None)


def _main_stops(rows: Sequence[Row]) -> list[Row]:
    """Return for each position of a route the stop at which most passages were due."""
    best: dict[int, Row] = {}
    for row in rows:
        kept = best.get(row["stop_sequence"])
        if kept is None or row["n_due"] > kept["n_due"]:
            best[row["stop_sequence"]] = row
    return [best[position] for position in sorted(best)]


def _heat(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Return a line of cells for each hour: the class, the text and the whole interval of each weekday."""
    found: dict[int, dict[int, Row]] = {}
    for row in rows:
        found.setdefault(row["service_hour"], {})[row["weekday"]] = row
    return [
        {"hour": _clock_hour(hour), "cells": [_heat_cell(days.get(weekday)) for weekday in range(1, 8)]}
        for hour, days in sorted(found.items())
    ]


def _heat_cell(row: Row | None) -> Mapping[str, str]:
    if row is None:
        return {"class": "", "text": "", "title": "no service"}
    if row["on_time"] is None:
        return {"class": "unseen", "text": "–", "title": f"not known, of {row['n_due']} passages due"}
    low, high = row["on_time_low"], row["on_time_high"]
    ends = with_ends(row["on_time"], low, high, "share", "interval")
    return {"class": heat_class(row["on_time"]), "text": ends, "title": f"{row['n_due']} passages due"}


def _clock_hour(hour: int) -> str:
    return f"{hour % 24:02}:00"


def _common(report: Report, code: str, keys: Sequence[LineKey]) -> Iterator[Figure]:
    not_run = report.of("not_run", line_code=code)
    rows = [{**row, "towards": report.towards(code, row["direction"])} for row in not_run.rows]
    yield Figure(
        "not-run", "Departures that did not run",
        f"{count_of(len(rows), 'departure')} surely did not run. Others may not have: a bus that "
        "nobody saw is not counted here.",
        _NOT_RUN, rows, not_run.sql, "delivered", most_rows=100,
    )  # fmt: skip
    yield _countdowns(report, code)
    names = {report.line_name(*key) for key in keys} | {report.line_name(*key).split(" (")[0] for key in keys}
    events = [row for row in disruption_rows(report) if names & set(row["lines"] or ())]
    yield Figure(
        "disruptions", "Its disruptions",
        f"The service status named the line in {count_of(len(events), 'disruption')}.",
        _DISRUPTIONS, events, report.ask("disruptions").sql, "disruptions",
    )  # fmt: skip
    changes = report.of("timetable_changes", line_code=code)
    rows = [{**row, "towards": report.towards(code, row["direction"])} for row in changes.rows]
    yield Figure(
        "timetable-changes", "Changes of its timetable",
        f"The timetable was seen to change {count_of(len(rows), 'time')} after it was first published.",
        _CHANGES, rows, changes.sql, "timetable",
    )  # fmt: skip


def _countdowns(report: Report, code: str) -> Figure:
    answer = report.of("countdowns", line_code=code)
    rows = [
        {**row, "ahead": f"{row['horizon_from_seconds'] // 60} to {row['horizon_to_seconds'] // 60}"}
        for row in answer.rows
    ]
    told = [row for row in rows if row["within"] is not None]
    reading = (
        f"Of the countdowns {told[-1]['ahead']} minutes ahead {share_with_interval(told[-1], 'within')} were "
        "within the band that the ruleset allows."
        if told
        else "Too few countdowns can be judged."
    )
    return Figure("countdowns", "Countdowns at stops", reading, _COUNTDOWNS, rows, answer.sql, "countdowns")
