"""Figures are written with their intervals, and ranked only as far as these allow."""

from datetime import date, datetime
from typing import Any

import pytest

from transit_reports.figures import (
    Column,
    Figure,
    Kind,
    clock,
    heat_class,
    ranked,
    with_ends,
    written,
)


def row(name: str, low: float, high: float) -> dict[str, Any]:
    return {"name": name, "share": (low + high) / 2, "share_low": low, "share_high": high}


@pytest.mark.parametrize(
    ("value", "low", "high", "kind", "bounds", "text"),
    [
        (0.58, 0.56, 0.60, "share", "interval", "58\u00a0% (56–60)"),
        (0.5812, 0.5712, 0.5912, "share", "interval", "58.1\u00a0% (57.1–59.2)"),
        (0.04, -0.02, 0.1, "share", "interval", "4\u00a0% (−2\u00a0to\u00a010)"),
        (0.01, -0.01, 0.03, "difference", "interval", "+1\u00a0points (−1\u00a0to\u00a0+3)"),
        (-0.2, -0.3, -0.1, "difference", "interval", "−20\u00a0points (−30\u00a0to\u00a0−10)"),
        (305, 272, 337, "seconds", "interval", "5:05\u00a0min (4:32–5:37)"),
        (None, 0.8, 0.998, "share", "bounds", "[80–100\u00a0%]"),
        (None, 1.0, 1.0, "share", "bounds", "[100\u00a0%]"),
        (None, 4648.0, None, "minutes", "bounds", "[3\u00a0d\u00a05\u00a0h or more]"),
        (None, 12960.0, 12960.0, "minutes", "bounds", "9\u00a0d"),
        (None, 0.0, 59.2, "minutes", "bounds", "[0\u00a0min – 1\u00a0h]"),
        (None, 829.9, 2940.0, "minutes", "bounds", "[13\u00a0h\u00a049\u00a0min – 2\u00a0d\u00a01\u00a0h]"),
        (None, None, None, "share", "bounds", "–"),
        (None, 0.1, 0.9, "share", "interval", "–"),
    ],
)
def test_a_figure_has_its_ends(  # noqa: PLR0917 - in the order of a case
    value: float | None, low: float | None, high: float | None, kind: Kind, bounds: str, text: str
) -> None:
    assert text == with_ends(value, low, high, kind, bounds)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, "count", "–"),
        (1234, "count", "1,234"),
        (0.5, "share", "50\u00a0%"),
        (-0.05, "difference", "−5\u00a0points"),
        (90, "minutes", "1\u00a0h\u00a030\u00a0min"),
        (date(2026, 3, 2), "date", "Mon\u00a02\u00a0Mar\u00a02026"),
        (datetime(2026, 3, 2, 8, 5), "time", "2\u00a0Mar 08:05"),  # noqa: DTZ001 - local time
        ("18/", "text", "18/"),
    ],
)
def test_a_value_is_written_by_its_kind(value: object, kind: Kind, text: str) -> None:
    assert text == written(value, kind)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0:00"), (-0.4, "0:00"), (-75, "−1:15"), (3600, "60:00")]
)
def test_seconds_are_minutes_and_seconds(seconds: float, text: str) -> None:
    assert text == clock(seconds)


def test_rows_are_ordered_by_the_end_of_the_interval_nearer_to_the_others() -> None:
    rows = [row("unsure", 0.1, 0.9), row("surely bad", 0.3, 0.4), row("good", 0.7, 0.8)]

    assert ["surely bad", "good", "unsure"] == [
        each.row["name"] for each in ranked(rows, "share", worst_is_low=True)
    ]


def test_rows_whose_intervals_meet_share_their_places() -> None:
    rows = [row("a", 0.10, 0.20), row("b", 0.30, 0.50), row("c", 0.40, 0.60), row("d", 0.70, 0.80)]

    places = {each.row["name"]: each.text for each in ranked(rows, "share", worst_is_low=True)}

    assert {"a": "1", "b": "2–3", "c": "2–3", "d": "4"} == places


def test_where_much_is_bad_the_first_place_has_the_largest() -> None:
    rows = [row("a", 0.10, 0.20), row("b", 0.30, 0.50), row("c", 0.40, 0.60), row("d", 0.70, 0.80)]

    places = [(each.row["name"], each.text) for each in ranked(rows, "share", worst_is_low=False)]

    assert [("d", "1"), ("c", "2–3"), ("b", "2–3"), ("a", "4")] == places


def test_darker_is_less_on_time() -> None:
    assert ["q4", "q2", "q0", "q0"] == [heat_class(share) for share in (0.0, 0.5, 0.9, 1.0)]


def test_a_csv_file_has_all_rows_with_both_ends_and_no_formula() -> None:
    columns = [Column("name", "Name"), Column("share", "Share", "share", "interval")]
    rows = [row("=1+1", 0.1, 0.3), {"name": "x", "share": None, "share_low": None, "share_high": None}]
    figure = Figure("f", "F", "", columns, rows, "select 1", "on-time", most_rows=1)

    assert "name,share,share_low,share_high\n'=1+1,0.2,0.1,0.3\nx,,,\n" == figure.csv()
    assert 1 == len(figure.shown)
