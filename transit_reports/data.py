"""The page of the data: what was polled, what was refused, and how far the estimates were off."""

from datetime import timedelta
from typing import Any

from transit_reports.figures import Column, Figure, with_ends, written
from transit_reports.page import Page
from transit_reports.queries import Row
from transit_reports.report import Report
from transit_reports.words import count_of

_COVERAGE = [
    Column("service_date", "Date", "date"),
    Column("service_hour", "Hour", "count"),
    Column("watched_share", "Watched", "share"),
    Column("n_due", "Passages due", "count"),
    Column("n_requests", "Requests", "count"),
    Column("n_good", "Good answers", "count"),
]
_REQUESTS = [
    Column("endpoint", "Endpoint"),
    Column("purpose", "For"),
    Column("n_requests", "Requests", "count"),
    Column("share", "Of all", "share"),
    Column("n_good", "Good answers", "count"),
    Column("n_not_sent", "Not sent", "count"),
]
_QUALITIES = [
    Column("arrival_quality", "What is known of the time"),
    Column("n_due", "Passages due", "count"),
    Column("share", "Of all", "share"),
    Column("on_time", "On time (estimated)", "share"),
]
_VALIDATION = [
    Column("dataset", "Dataset"),
    Column("rule", "Rule"),
    Column("reason", "Why"),
    Column("n_batches", "Batches", "count"),
    Column("n_unexpected", "Rows against it", "count"),
    Column("n_rows", "Rows", "count"),
]
_AUDIT = [
    Column("service_date", "Date", "date"),
    Column("n_audited", "Passages polled at random", "count"),
    Column("expected_share", "On time, estimated", "share"),
    Column("observed_share", "On time, observed", "share"),
    Column("error", "Observed minus estimated", "difference", "interval"),
]
_DRIFT = [
    Column("dataset", "Dataset"),
    Column("kind", "What"),
    Column("name", "Name"),
    Column("first_seen_at", "First seen (UTC)", "time"),
    Column("last_seen_at", "Last seen (UTC)", "time"),
    Column("n", "Times", "count"),
]
_FINDINGS = [
    Column("found_date", "Date", "date"),
    Column("found_in", "In"),
    Column("finding", "Finding"),
    Column("n_rows", "Rows", "count"),
    Column("example", "Example"),
]
_WORDS = {
    "evidenced": "observed, within a minute",
    "bounded": "observed, less exactly",
    "interpolated": "estimated between two stops where the bus was seen",
    "extrapolated": "estimated from another stop where the bus was seen",
    "expected": "nobody saw the bus: estimated from others",
}


def data_page(report: Report) -> Page:
    """Return the page of the data."""
    coverage = _coverage(report)
    figures = [
        coverage, _qualities(report), _audit(report), _requests(report), _validation(report), _drift(report),
        _findings(report),
    ]  # fmt: skip
    values = {"coverage": coverage, "figures": figures[1:], "heat": _heat(report), "hours": range(24)}
    return Page("data/index.html", "data.html", "Data", values, figures)


def _coverage(report: Report) -> Figure:
    answer = report.ask("coverage_by_hour")
    n_due = sum(row["n_due"] for row in answer.rows)
    watched = sum(row["n_due"] * (row["watched_share"] or 0) for row in answer.rows)
    unseen = sum(row["n_due"] > 0 and not row["n_good"] for row in answer.rows)
    reading = (
        f"Of {n_due:,} passages due {100 * watched / n_due:.0f} % were due while their stop was watched: "
        f"between two good answers no further apart than the ruleset allows. In "
        f"{count_of(unseen, 'hour')} with passages due nothing was answered."
        if n_due
        else "No passage was due."
    )
    return Figure(
        "coverage", "What was watched, hour by hour", reading, _COVERAGE, answer.rows, answer.sql, "coverage"
    )


def _heat(report: Report) -> list[dict[str, Any]]:
    found: dict[Any, dict[int, Row]] = {}
    for row in report.ask("coverage_by_hour").rows:
        found.setdefault(row["service_date"], {})[row["service_hour"]] = row
    dates = report.period.dates
    hours = sorted({hour for days in found.values() for hour in days}) or [*range(4, 28)]
    lines = [{"date": "", "cells": [{"class": "", "text": f"{hour % 24:02}"} for hour in hours]}]
    days = (dates.first + timedelta(days=number) for number in range(dates.n_dates))
    return lines + [
        {"date": written(day, "date"), "cells": [_heat_cell(found.get(day, {}).get(hour)) for hour in hours]}
        for day in days
    ]


def _heat_cell(row: Row | None) -> dict[str, str]:
    if row is None or not row["n_due"]:
        return {"class": "", "text": ""}
    if not row["n_good"]:
        return {"class": "unseen", "text": "0"}
    share = row["watched_share"] or 0
    return {"class": f"q{min(int(share * 5), 4)}", "text": f"{100 * share:.0f}"}


def _qualities(report: Report) -> Figure:
    answer = report.ask("qualities")
    total = sum(row["n_due"] for row in answer.rows)
    rows = [
        {
            **row,
            "arrival_quality": _WORDS.get(row["arrival_quality"], row["arrival_quality"]),
            "share": row["n_due"] / total,
        }
        for row in answer.rows
    ]
    reading = (
        f"Of {total:,} passages due most are {rows[0]['arrival_quality']}." if rows else "No passage was due."
    )
    return Figure(
        "known", "What is known of the passages due", reading, _QUALITIES, rows, answer.sql, "observed"
    )


def _audit(report: Report) -> Figure:
    answer = report.ask("audit")
    told = [row for row in answer.rows if row["error_low"] is not None]
    reading = "No passage was polled at random."
    if told:
        last = told[-1]
        ends = with_ends(last["error"], last["error_low"], last["error_high"], "difference", "interval")
        reading = (
            f"Part of the allowance polls stops at random, without regard to what is known. On "
            f"{written(last['service_date'], 'date')} the on-time share that it found was above the "
            f"estimated one by {ends}."
        )
    return Figure(
        "audit", "How far the estimates were off", reading, _AUDIT, answer.rows, answer.sql, "audit"
    )


def _requests(report: Report) -> Figure:
    answer = report.ask("requests")
    total = sum(row["n_requests"] for row in answer.rows)
    good = sum(row["n_good"] for row in answer.rows)
    rows = [
        {
            **row,
            "share": row["n_requests"] / total,
            "purpose": "the audit" if row["purpose"] == "audit" else "data",
        }
        for row in answer.rows
    ]
    reading = (
        f"{total:,} requests were made; {100 * good / total:.1f} % had a good answer."
        if total
        else "No request was made."
    )
    return Figure(
        "requests", "What the allowance was spent on", reading, _REQUESTS, rows, answer.sql, "allowance"
    )


def _validation(report: Report) -> Figure:
    answer = report.ask("validation")
    reading = (
        f"{count_of(len(answer.rows), 'rule')} of a dataset were not met by some batch. Rows that break "
        "a rule of the first kind are kept in quarantine and count for nothing."
        if answer.rows
        else "Every batch met every expectation."
    )
    return Figure(
        "validation", "What validation refused", reading, _VALIDATION, answer.rows, answer.sql, "validation"
    )


def _drift(report: Report) -> Figure:
    answer = report.ask("drift")
    reading = (
        f"The interface answered {count_of(len(answer.rows), 'thing')} that it was not known to answer."
        if answer.rows
        else "The interface answered nothing that it was not known to answer."
    )
    return Figure("drift", "Changes of the interface", reading, _DRIFT, answer.rows, answer.sql, "validation")


def _findings(report: Report) -> Figure:
    answer = report.ask("findings")
    reading = (
        f"Checks of the data found {count_of(len(answer.rows), 'thing')}."
        if answer.rows
        else "Checks of the data found nothing."
    )
    return Figure(
        "findings", "Findings of the checks", reading, _FINDINGS, answer.rows, answer.sql, "validation"
    )
