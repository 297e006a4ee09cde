"""The notebook shows the figures of the published file, as a script and as an app."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from docs.notebooks.punctuality import (
    Contents,
    Figures,
    Line,
    UnusableError,
    app,
    arguments_of,
    chart_of,
    choice_of,
    contents_of,
    figures_of,
    operators_of,
    sentence_of,
    unknown_text,
)
from tests.documents.sessions import ROOT
from tests.warehouse.rehearsed import DAY, Rehearsed
from transit_base.errors import NotPublishedError
from transit_etl.paths import published_database

NOTEBOOK = ROOT / "docs" / "notebooks" / "punctuality.py"
OPERATOR = "emulated"
SHARE = "estimated_on_time_share, estimated_on_time_share_low, estimated_on_time_share_high"


@pytest.fixture
def published(rehearsed: Rehearsed) -> Path:
    """Return the published file of the rehearsed hours."""
    return published_database(rehearsed.settings.data_dir)


@pytest.fixture
def best_known(published: Path) -> Line:
    """Return the line of which the file has the most shares by hour."""
    [(code, direction)] = _ask(
        published,
        "select line_code, direction from marts.punctuality_shares where estimated_on_time_share is not null "
        "group by all order by count(*) desc, line_code, direction limit 1",
    )
    return next(line for line in contents_of(published, OPERATOR).lines if line[:2] == (code, direction))


def _ask(path: Path, sql: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(path, read_only=True) as connection:
        return connection.execute(sql).fetchall()


def _share(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["on_time"], row["on_time_low"], row["on_time_high"]


def _run(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(NOTEBOOK), *arguments],
        env={**os.environ, **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_figures_of_all_lines_are_those_of_the_file(
    published: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(NOTEBOOK), "--file", str(published)])
    _, shown = app.run()
    figures = shown["figures"]
    [(*share, reason)] = _ask(
        published,
        f"select {SHARE}, words from marts.network_punctuality_daily "
        "left join core.null_reasons on estimate_null_reason = reason",
    )
    by_hour = _ask(
        published,
        f"select key, {SHARE} from punctuality_between(service_hour, '{DAY}', '{DAY}') order by key",
    )

    assert [(DAY, *share, reason)] == [
        (row["key"], *_share(row), row["why_unknown"]) for row in figures.dates
    ]
    assert (*share, reason) == (*_share(figures.period), figures.period["why_unknown"])
    assert reason in shown["sentence"]
    assert any(share is not None for _, share, *_ in by_hour)
    observed = [row for row in figures.hours if row["n_due"] and row["observed_share"]]
    assert by_hour == [(row["key"], *_share(row)) for row in observed]


def test_the_hours_of_a_line_are_those_of_the_mart_also_when_no_bus_was_observed(
    published: Path, best_known: Line
) -> None:
    figures = figures_of(published, OPERATOR, DAY, DAY, best_known)
    in_mart = _ask(
        published,
        f"select service_hour, {SHARE}, estimate_null_reason from marts.punctuality_shares where "
        f"line_code = '{best_known.code}' and direction = '{best_known.direction}' order by service_hour",
    )
    words = dict([(None, None), *_ask(published, "select reason, words from core.null_reasons")])

    assert "nothing observed" in {reason for *_, reason in in_mart}
    assert any(share is not None for _, share, *_ in in_mart)
    assert [(*figure, words[reason]) for *figure, reason in in_mart] == [
        (row["key"], *_share(row), row["why_unknown"]) for row in figures.hours
    ]


def test_the_sentence_has_the_share_with_its_interval_and_what_is_known(
    published: Path, best_known: Line
) -> None:
    hour = next(
        row
        for row in figures_of(published, OPERATOR, DAY, DAY, best_known).hours
        if row["on_time"] is not None
    )
    sentence = sentence_of(Figures(hour, [], []), DAY, DAY, best_known)

    assert re.match(r"\d+\s% \(95\s% interval: \d+ to \d+\s%\) of the passages of line ", sentence)
    assert (
        f"towards {best_known.towards} were on time on 18 November 2026; {hour['n_due']} passages" in sentence
    )
    assert sentence.endswith("on time: from 60 s early to 359 s late.")


@pytest.mark.long
def test_an_operator_that_the_file_does_not_have_is_refused_with_those_it_has(published: Path) -> None:
    done = _run("--file", str(published), "--operator", "other")

    assert (1, "") == (done.returncode, done.stdout)
    assert f"{published} holds nothing of other, but of {OPERATOR}\n" == done.stderr


def test_a_date_of_which_the_file_has_nothing_is_striped_and_not_zero(published: Path) -> None:
    first = DAY - timedelta(days=1)
    figures = figures_of(published, OPERATOR, first, DAY, Line())
    absent, hour = figures.dates[0], next(row for row in figures.hours if row["on_time"] is not None)
    [drawn] = chart_of([absent, hour], "").to_dict()["datasets"].values()

    assert [first, DAY] == [row["key"] for row in figures.dates]
    assert (None, 0, 100) == (drawn[0]["share"], drawn[0]["low"], drawn[0]["high"])
    assert [100 * share for share in _share(hour)] == [drawn[1][name] for name in ("share", "low", "high")]
    assert f"the dates {first} (the file has no passages of it)." in unknown_text([absent, hour], "the dates")
    assert "" == unknown_text([hour], "the hours")


def test_a_period_of_which_the_file_has_nothing_has_no_share(published: Path) -> None:
    day = date(2026, 1, 1)
    figures = figures_of(published, OPERATOR, day, day, Line())

    assert (
        "It is not known what share of the passages of all lines was on time on 1 January 2026: "
        "the file has no passages of it."
    ) == sentence_of(figures, day, day, Line())


def test_a_script_prints_the_sentence_and_each_figure(published: Path, best_known: Line) -> None:
    chosen = ["--line", best_known.code or "", "--direction", best_known.direction or ""]
    done = _run("--file", str(published), *chosen, "--from", f"{DAY}", "--to", f"{DAY}")
    figures = figures_of(published, OPERATOR, DAY, DAY, best_known)
    sentence, *rows = done.stdout.splitlines()

    assert (0, "") == (done.returncode, done.stderr)
    assert sentence_of(figures, DAY, DAY, best_known) == sentence
    assert [f"{row['key']}" for row in (*figures.dates, *figures.hours)] == [
        text.split(": ")[0] for text in rows
    ]


@pytest.mark.long
def test_without_a_file_named_it_is_that_of_the_data_folder(rehearsed: Rehearsed) -> None:
    done = _run(TRANSIT_DATA_DIR=str(rehearsed.settings.data_dir))

    assert 0 == done.returncode
    assert "share of the passages of all lines was on time on 18 November 2026" in done.stdout


def test_without_a_published_file_a_script_ends_with_one_line_that_names_it(tmp_path: Path) -> None:
    done = _run(TRANSIT_DATA_DIR=str(tmp_path))

    expected = f"nothing is published at {published_database(tmp_path)} yet: run build and publish first\n"
    assert (1, "", expected) == (done.returncode, done.stdout, done.stderr)


def test_a_file_that_nobody_published_is_refused(tmp_path: Path) -> None:
    other, text = tmp_path / "other.duckdb", tmp_path / "text.duckdb"
    duckdb.connect(other).close()
    text.write_text("no database")

    for path in (other, text):
        with pytest.raises(UnusableError, match=r"is no file that transit-etl published: \S"):
            operators_of(path)
    with pytest.raises(NotPublishedError):
        operators_of(tmp_path)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--from", "yesterday"], "argument --from: invalid"),
        (["--from", "2026-11-19"], "2026-11-19 to 2026-11-18 is no period within 2026-11-18"),
        (["--line", "999"], "the file has no line 999 among these: 018-00"),
        (["--line", "018-00", "--direction", "up"], "the file has no line 018-00 up among"),
        (["--lines", "018-00", "--x"], "unrecognized arguments: --lines"),
    ],
)
def test_a_command_line_that_asks_for_what_is_not_there_is_refused(given: list[str], message: str) -> None:
    contents = Contents("example", None, DAY, DAY, [Line(), Line("018-00", "outbound", "18", "Port")])

    with pytest.raises(UnusableError, match=message):
        choice_of(arguments_of(given), contents)


def test_a_line_without_a_direction_is_its_first() -> None:
    lines = [Line(), Line("018-00", "inbound", "18", "Hill"), Line("018-00", "outbound", "18", "Port")]
    contents = Contents("example", None, DAY, DAY, lines)

    assert (DAY, DAY, lines[1]) == choice_of(arguments_of(["--line", "018-00"]), contents)
    assert (DAY, DAY, lines[0]) == choice_of(arguments_of([]), contents)


def test_marimo_finds_no_fault_in_the_notebook() -> None:
    checked = subprocess.run(
        [sys.executable, "-m", "marimo", "check", "--strict", str(NOTEBOOK)],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (checked.returncode, checked.stdout)
