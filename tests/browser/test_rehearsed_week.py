"""The report of a rehearsed week: its figures hold what truly happened, and its pages are whole."""

import csv
import re
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import duckdb
import httpx2
import pytest
from lxml import etree

from tests.browser.test_reports import (
    test_five_questions_are_answered_within_two_clicks,
    test_no_page_breaks_a_rule_of_accessibility,
    test_no_page_is_wider_than_a_telephone,
    test_print_has_the_figures_whole_and_not_what_can_only_be_clicked,
    test_the_keyboard_reaches_everything_in_order,
    test_without_scripts_nothing_is_missing_and_no_console_error_is_printed,
)
from tests.reports.test_site import check_links, pages_of
from transit_emulator.app import create_app
from transit_emulator.truth import write_truth
from transit_emulator.world import build_world
from transit_etl import warehouse
from transit_etl.export_settings import export_settings
from transit_etl.paths import published_database
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings
from transit_reports import ReportRequest, ReportSummary, write_reports

__all__ = [  # run here too, on pages with more in them
    "test_five_questions_are_answered_within_two_clicks",
    "test_no_page_breaks_a_rule_of_accessibility",
    "test_no_page_is_wider_than_a_telephone",
    "test_print_has_the_figures_whole_and_not_what_can_only_be_clicked",
    "test_the_keyboard_reaches_everything_in_order",
    "test_without_scripts_nothing_is_missing_and_no_console_error_is_printed",
]
pytestmark = [
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.browser,
    pytest.mark.timeout(2400),
]
FIRST, LAST = date(2026, 11, 16), date(2026, 11, 22)
WEEKEND = date(2026, 11, 21)
START, HOURS = datetime(2026, 11, 16, 3, 0, tzinfo=UTC), 7 * 24.0  # four o'clock local time: the cutoff
N_LINES = 8
CALLS = """
create table calls as
select service_date, calls.line_code, calls.direction, epoch(passed_at - scheduled_at) as delay
from '{truth}/actual_passages.parquet' as calls
join '{truth}/scheduled_passages.parquet' using (service_date, trip_id, stop_code, stop_sequence)
join '{truth}/trips.parquet' as trips using (service_date, trip_id)
where service_date between '{first}' and '{last}' and not trips.is_added
"""
TRUE = """
select avg((delay between -60 and 359)::int) as on_time, avg((delay < -60)::int) as early,
    avg((delay > 359)::int) as late, avg(delay) as mean_delay
from calls
"""


CHANGE = """
select avg((delay between -60 and 359)::int) filter (service_date >= '{weekend}')
    - avg((delay between -60 and 359)::int) filter (service_date < '{weekend}') as change
from calls
where {where}
"""


class Shown(NamedTuple):
    """A figure of a page: its name, the ends of its interval as they are shown, and what is true."""

    name: str
    low: float
    high: float
    true: float
    rounding: float

    @property
    def holds(self) -> bool:
        """Whether the truth lies in the interval, as far as its ends are shown."""
        return self.low - self.rounding <= self.true <= self.high + self.rounding


@pytest.fixture(scope="module")
def truth() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, truth: duckdb.DuckDBPyConnection) -> ReportSummary:
    """Rehearse, build and publish a week of the small network, and write its report."""
    folder = tmp_path_factory.mktemp("week")
    world = build_world("small", None, 1)
    write_truth(world, FIRST, LAST, folder / "truth")
    truth.execute(CALLS.format(truth=folder / "truth", first=FIRST, last=LAST))
    settings = Settings(data_dir=folder / "data", window_seconds=3600, rate_per_minute=20)
    with (
        ThreadPoolExecutor() as apart
    ):  # from the event loop of the browser that other tests of this process left open
        apart.submit(
            rehearse, settings, START, HOURS, transport=httpx2.ASGITransport(create_app(world))
        ).result()
    warehouse.build(settings)
    warehouse.publish(settings)
    asked = ReportRequest(first=FIRST, last=LAST, languages=["en", "it"])
    [written] = write_reports(export_settings(settings), folder / "performance", asked)
    return written


def test_eleven_of_twelve_figures_of_the_pages_hold_the_truth(
    report: ReportSummary, truth: duckdb.DuckDBPyConnection
) -> None:
    shown = [*_tiles(report, truth), *_lines(report, truth)]

    assert 12 == len(shown)
    assert sum(each.holds for each in shown) >= 11, shown


def test_no_interval_is_so_wide_that_it_says_nothing(
    report: ReportSummary, truth: duckdb.DuckDBPyConnection
) -> None:
    assert [] == [each for each in _lines(report, truth) if each.high - each.low > 0.4]


def test_differences_of_weekend_and_weekdays_hold_the_true_ones(
    report: ReportSummary, truth: duckdb.DuckDBPyConnection
) -> None:
    """The intervals of the lines that are compared hold the true difference in nine of ten."""
    settings = Settings(data_dir=report.page.parents[2] / "data")
    asked = ReportRequest(
        first=WEEKEND, last=LAST, against=f"{FIRST}_{WEEKEND - timedelta(days=1)}", languages=["en"]
    )
    [written] = write_reports(export_settings(settings), report.page.parents[2] / "compared", asked)
    folder = written.page.parent / "compare" / asked.against
    with duckdb.connect(published_database(settings.data_dir), read_only=True) as file:
        names = file.execute("select line, towards, line_code, direction from direction_names()").fetchall()
    directions = {
        (line, towards): f"line_code = '{code}' and direction = '{direction}'"
        for line, towards, code, direction in names
    }
    [network] = [row for row in _csv(folder / "shares.csv") if row["what"] == "On time"]
    shown = [
        _difference(row, truth, directions[row["line"], row["towards"]])
        for row in _csv(folder / "lines-compared.csv")
    ]

    assert _difference(network, truth, "true").holds
    assert len(shown) >= 10
    assert sum(each.holds for each in shown) >= 0.9 * len(shown), [each for each in shown if not each.holds]
    shutil.rmtree(written.page.parents[1])


def test_every_link_leads_somewhere(report: ReportSummary) -> None:
    check_links([*pages_of(report), *report.page.parents[1].glob("**/index.html")])


def test_the_report_says_that_its_data_are_rehearsed(report: ReportSummary) -> None:
    assert "These are rehearsed data" in report.page.read_text("utf-8")


def _csv(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as text:
        return [*csv.DictReader(text)]


def _difference(row: Mapping[str, str], truth: duckdb.DuckDBPyConnection, where: str) -> Shown:
    true = _row(truth, CHANGE.format(weekend=WEEKEND, where=where))["change"]
    return Shown(where, float(row["change_low"]), float(row["change_high"]), true, 0.0)


def _tiles(report: ReportSummary, truth: duckdb.DuckDBPyConnection) -> Iterator[Shown]:
    true = _row(truth, TRUE)
    document = etree.HTML(report.page.read_text("utf-8"))
    tiles = {
        tile.findtext("span[@class='name']"): tile.findtext("span[@class='ends']")
        for tile in document.xpath("//ul[@class='tiles']/li")
    }
    for title, name in (("On time", "on_time"), ("Early", "early"), ("Late", "late")):
        yield Shown(title, *_shares(tiles[title]), true[name], 0.005)
    yield Shown("Mean delay", *_seconds(tiles["Mean delay"]), true["mean_delay"], 0.5)


def _lines(report: ReportSummary, truth: duckdb.DuckDBPyConnection) -> Iterator[Shown]:
    """Yield the share of the lines and directions with most passages due, as the page of lines shows it."""
    document = etree.HTML((report.page.parent / "lines" / "index.html").read_text("utf-8"))
    rows = [
        ["".join(cell.itertext()) for cell in row] + [row.find(".//a").get("href")]
        for row in document.xpath("//figure[@id='lines']//tbody/tr")
    ]
    most = sorted(rows, key=lambda row: -int(row[6].replace(",", "")))[:N_LINES]
    for row in most:
        code = row[-1].split("/")[-2]
        page = etree.HTML((report.page.parent / "line" / code / "index.html").read_text("utf-8"))
        [direction] = [
            heading.get("id")
            for heading in page.xpath("//h2")
            if heading.text == f"Towards {row[2]}" and heading.get("id") in {"outbound", "inbound"}
        ]
        true = _row(truth, f"{TRUE} where line_code = '{code}' and direction = '{direction}'")
        yield Shown(f"{row[1]} towards {row[2]}", *_shares(row[3].partition("(")[2]), true["on_time"], 0.005)


def _row(truth: duckdb.DuckDBPyConnection, query: str) -> Mapping[str, float]:
    cursor = truth.execute(query)
    names = [column[0] for column in cursor.description or ()]
    [row] = cursor.fetchall()
    return dict(zip(names, row, strict=True))


def _shares(text: str) -> tuple[float, float]:
    low, high = re.findall(r"−?[\d.]+", text)
    return float(low.replace("−", "-")) / 100, float(high.replace("−", "-")) / 100


def _seconds(text: str) -> tuple[float, float]:
    (sign, *low), (other, *high) = re.findall(r"(−?)(\d+):(\d\d)", text)
    return _plain(sign, *low), _plain(other, *high)


def _plain(sign: str, minutes: str, seconds: str) -> float:
    return (-1 if sign else 1) * (60 * int(minutes) + int(seconds))
