"""Comparisons say a change only where intervals that hold for all of them together leave 0 out."""

from datetime import date
from typing import TYPE_CHECKING, Any, cast

import pytest

from transit_exports.periods import Period
from transit_reports.compare import changed_lines, compare_page, lines_compared_page
from transit_reports.overview import headline
from transit_reports.periods import ReportPeriod, period_within
from transit_reports.queries import Answer
from transit_reports.report import Report

if TYPE_CHECKING:
    from transit_exports.source import Source

NOW = period_within(Period(date(2026, 3, 9), date(2026, 3, 15)))
BEFORE = NOW.before


class _Source:
    """A published file that knows the names of lines alone."""

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        if "direction_names" not in query:
            return []
        return [(code, way, code[1:3], f"{way} end") for code in ("018-00", "020-00") for way in WAYS]


WAYS = ("outbound", "inbound")


def line(
    code: str, direction: str, share: float | None, half: float = 0.02, n_due: int = 900
) -> dict[str, Any]:
    ends = (None, None) if share is None else (share - half, share + half)
    return {
        "line_code": code, "direction": direction, "n_due": n_due, "on_time": share, "on_time_low": ends[0],
        "on_time_high": ends[1], "observed_share": 0.7, "unseen_share": 0.1, "null_reason": None,
    }  # fmt: skip


def report(
    now: list[dict[str, Any]], before: list[dict[str, Any]], **others: tuple[list[Any], list[Any]]
) -> Report:
    """Return a report with the answers about both periods: of lines, and of other queries by their names."""
    made = Report(cast("Source", _Source()), NOW)
    answers: dict[tuple[str, ReportPeriod], list[dict[str, Any]]] = {
        (name, period): rows
        for name, both in {"lines": (now, before), "delivered": ([], []), **others}.items()
        for period, rows in zip((NOW, BEFORE), both, strict=True)
    }
    for (name, period), rows in answers.items():
        made.keep(name, period, Answer(f"select {name}", rows))
    return made


def test_a_line_that_surely_changed_is_listed_with_both_shares() -> None:
    found = changed_lines(
        report(
            [line("018-00", "outbound", 0.70), line("018-00", "inbound", 0.62)],
            [line("018-00", "outbound", 0.50), line("018-00", "inbound", 0.61)],
        ),
        BEFORE,
    )

    [row] = found.rows
    assert ("18", "outbound end", 0.50, 0.70) == (row["line"], row["towards"], row["then"], row["now"])
    assert 0 < row["change_low"] < row["change"] == pytest.approx(0.2)
    assert "1 of 2 lines and directions changed" in found.reading


@pytest.mark.parametrize(
    ("now", "before"),
    [
        ([line("018-00", "outbound", None)], [line("018-00", "outbound", 0.5)]),
        ([line("018-00", "outbound", 0.9, n_due=49)], [line("018-00", "outbound", 0.5)]),
        ([line("018-00", "outbound", 0.9)], [line("020-00", "outbound", 0.5)]),
    ],
)
def test_a_line_of_which_too_little_is_known_is_not_compared(
    now: list[dict[str, Any]], before: list[dict[str, Any]]
) -> None:
    found = changed_lines(report(now, before), BEFORE)

    assert not found.rows
    assert found.reading.startswith("Nothing can be compared")


def test_without_a_sure_change_there_is_no_list() -> None:
    found = changed_lines(
        report(
            [line("018-00", "outbound", 0.52), line("018-00", "inbound", 0.60)],
            [line("018-00", "outbound", 0.50), line("018-00", "inbound", 0.61)],
        ),
        BEFORE,
    )

    assert not found.rows
    assert "None of 2 lines and directions surely changed" in found.reading


def test_two_lines_are_compared_in_each_direction_but_not_with_themselves() -> None:
    rows = [line(code, way, 0.5 + 0.2 * (code == "020-00")) for code in ("018-00", "020-00") for way in WAYS]
    page = lines_compared_page(report(rows, []), ["018-00", "020-00"])
    [figure] = page.figures

    assert "compare/lines_018-00_020-00/index.html" == page.address
    assert 4 == len(figure.rows)
    assert all(row["change_low"] > 0 for row in figure.rows)
    assert "Of 4 pairs of directions 4 surely differ" in figure.reading


@pytest.mark.parametrize(
    ("before", "told"),
    [
        ([], "Not known of both periods: On time, Early, Late."),
        ([{}], "Not known of both periods: On time, Early, Late."),
        (
            [
                {
                    "on_time": 0.5,
                    "on_time_low": 0.45,
                    "on_time_high": 0.55,
                    "late": 0.3,
                    "late_low": 0.2,
                    "late_high": 0.4,
                }
            ],
            "Changed for certain: On time. No certain change: Late. Not known of both periods: Early.",
        ),
    ],
)
def test_what_is_not_known_of_both_periods_is_not_told_as_unchanged(
    before: list[dict[str, Any]], told: str
) -> None:
    share = {
        "on_time": 0.8,
        "on_time_low": 0.75,
        "on_time_high": 0.85,
        "late": 0.2,
        "late_low": 0.1,
        "late_high": 0.3,
    }
    nothing: tuple[list[Any], list[Any]] = ([], [])
    page = compare_page(
        report(
            [], [], network=([share], before), network_waits=nothing, delivered_network=nothing, stops=nothing
        ),
        BEFORE,
    )
    readings = {figure.name: figure.reading for figure in page.figures}

    assert told == readings["shares"]
    assert "Not known of both periods: Mean delay, Excess wait." == readings["times"]
    for name in ("delivered", "lines-that-changed", "lines-compared", "stops-that-changed"):
        assert readings[name].startswith("Nothing can be compared: too little is known of "), name


def test_a_comparison_says_how_many_lines_it_leaves_out() -> None:
    both = [
        line("018-00", "outbound", 0.52),
        line("018-00", "inbound", 0.6),
        line("020-00", "outbound", None),
    ]
    found = changed_lines(report(both, both), BEFORE)

    assert "Of 1 other line and direction too little is known of one of the two periods." in found.reading


def test_a_period_without_any_row_is_told_as_not_observed_and_not_as_one_in_which_nothing_was_due() -> None:
    assert headline(report([], [], network=([], []))).endswith("nothing observed.")
