"""A figure has the same digits in the file, in exports, pages, the feed and the demonstration."""

import csv
import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

from scripts.demo_truth import truth_table
from tests.exports.conftest import change
from tests.exports.workbooks import rows_of, sheets_of
from tests.warehouse.rehearsed import DAY, Rehearsed
from transit_base.cited import cited
from transit_exports import ExportSettings, Request, export
from transit_reports import ReportRequest, write_reports

CITED = re.compile(r"([\d.]+) % \(95 % interval: ([\d.]+) to ([\d.]+) %\)")
NETWORK = "all lines"
LINES = ("1", "34")  # with pages of their own
NARROW = """
update marts.punctuality set
    n_expected = 0, common_error = n_due * if(line_code < '005', 0.00512, 0.012345), on_time_variance = 0.321,
    early_variance = 1, late_variance = 1
"""


class Digits(NamedTuple):
    """A figure and the ends of its interval in percent, as they are written."""

    figure: str
    low: str
    high: str


@pytest.fixture
def narrow(own: ExportSettings) -> ExportSettings:
    """Return settings of a published file whose intervals carry figures of the network and of lines."""
    change(own, NARROW)
    return own


def ask(settings: ExportSettings, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(settings.database, read_only=True) as connection:
        return connection.execute(query).fetchall()


def in_text(text: str) -> Digits:
    """Return the first figure with an interval of a text."""
    found = CITED.search(text.replace("\u00a0", " "))
    assert found, text
    return Digits(*found.groups())


def text_of(page: Path) -> str:
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", page.read_text("utf-8"))).split())


def from_csv(settings: ExportSettings, name: str) -> Iterator[tuple[str, Digits]]:
    decimals = dict(
        ask(settings, "select precision, decimals from core.precision_labels where quantity = 'share'")
    )
    folder = export(settings, Request((f"headline.{name}",), "csv", allows_incomplete=True)).folder
    with next(folder.rglob("*.csv")).open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            if row["figure"]:
                of = f"line {row['line']} towards {row['towards']}" if "line" in row else NETWORK
                numbers = (
                    f"{100 * float(row[each]):.{decimals[row['precision']]}f}"
                    for each in ("figure", "low", "high")
                )
                yield of, Digits(*numbers)


def from_workbook(settings: ExportSettings, name: str) -> Iterator[tuple[str, Digits]]:
    """Yield what the cells of a workbook show."""
    folder = export(settings, Request((f"headline.{name}",), "xlsx", allows_incomplete=True)).folder
    for row in rows_of(sheets_of(folder)[1]):
        if row["figure"]:
            of = f"line {row['line']} towards {row['towards']}" if "line" in row else NETWORK
            yield of, Digits(row["figure"], row["low"], row["high"])


def test_a_figure_has_the_same_digits_everywhere(
    narrow: ExportSettings, rehearsed: Rehearsed, tmp_path: Path
) -> None:
    sentences: dict[str, str] = dict(
        ask(narrow, f"select '{NETWORK}', sentence from headline.on_time_network where figure is not null")
        + ask(
            narrow,
            "select 'line ' || line || ' towards ' || towards, sentence from headline.on_time_lines "
            "where figure is not null",
        )
    )
    said = {of: in_text(sentence) for of, sentence in sentences.items()}
    assert len(said) > 5
    assert {0, 1} == {len(each.low.partition(".")[2]) for each in said.values()}

    for read in (from_csv, from_workbook):
        found = dict([*read(narrow, "on_time_network"), *read(narrow, "on_time_lines")])
        assert said == found, read

    [report] = write_reports(narrow, tmp_path / "reports", ReportRequest(first=DAY, last=DAY, lines=LINES))
    assert said[NETWORK] == in_text(report.answer) == in_text(text_of(report.page))
    assert said[NETWORK] == in_text((tmp_path / "reports" / "feed.atom").read_text("utf-8"))
    pages = " ".join(text_of(page) for page in sorted((report.page.parent / "line").rglob("index.html")))
    lines = [of for of in said if of.startswith(tuple(f"line {line} " for line in LINES))]
    assert len(lines) > len(LINES)
    for of in lines:
        citation = pages.lower().partition(f"to cite {of}: ".lower())[2]
        assert said[of] == in_text(citation[:80]), of
    shown = truth_table(narrow.database, rehearsed.truth, DAY, DAY).columns[1]
    assert said[NETWORK] == in_text(str(next(iter(shown.cells))))


def test_what_is_no_headline_is_rounded_as_headlines_are(narrow: ExportSettings) -> None:
    figures = "estimated_on_time_share, estimated_on_time_share_low, estimated_on_time_share_high"
    asked = f"punctuality_between({{}}, date '{DAY}', date '{DAY}')"
    rows = ask(
        narrow,
        f"select {figures}, figure, low, high from headline.on_time_network "
        f"join {asked.format('service_date')} on period = cast(key as varchar) where figure is not null "
        f"union all select {figures}, figure, low, high from headline.on_time_lines as lines "
        "join direction_names() as names on names.line = lines.line and names.towards = lines.towards "
        "join "
        + asked.format("{'line_code': line_code, 'direction': direction}")
        + " on key.line_code = names.line_code and key.direction = names.direction where figure is not null",
    )
    assert len(rows) > 5
    for figure, low, high, *headline in rows:
        assert headline == [round(each / 100, 6) for each in cited(figure, low, high)[:3]]
