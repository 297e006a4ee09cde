"""Each dataset is requested once, in order, with a row for every request."""

import itertools
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from tests.collect.helpers import NOON, rows, write_lake, write_network
from tests.collect.upstream import START, Upstream, collect_from, settings_at
from transit_etl.api.client import MissingTokenError
from transit_etl.collect.datasets import UnknownDatasetError
from transit_etl.collect.known_network import NothingKnownError

NETWORK = {"015-00": ["0001", "0002"], "016-00": ["0002", "0003"]}


def test_lines_are_one_request(tmp_path: Path) -> None:
    report = collect_from(Upstream(), settings_at(tmp_path), "lines")

    assert {"ok": 1} == report.outcomes
    assert ["lines"] == [row["endpoint"] for row in rows(tmp_path)]
    assert not report.is_failure


def test_an_unknown_dataset_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(UnknownDatasetError, match="passages"):
        collect_from(Upstream(), settings_at(tmp_path), "trams")


@pytest.mark.parametrize("dataset", ["stops", "timetables", "passages", "legacy"])
def test_a_dataset_that_needs_the_network_says_what_to_run_first(tmp_path: Path, dataset: str) -> None:
    with pytest.raises(NothingKnownError, match="transit-etl collect lines"):
        collect_from(Upstream(), settings_at(tmp_path, token="t"), dataset)


def test_the_stops_of_every_known_line_are_asked_for(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)
    upstream = Upstream()

    collect_from(upstream, settings_at(tmp_path), "stops")

    assert {"v1/fermate/015-00": 1, "v1/fermate/016-00": 1} == upstream.counts


def test_timetables_come_for_active_lines_today_first(tmp_path: Path) -> None:
    lines = [{"line_code": "015-00", "is_active": True}, {"line_code": "016-00", "is_active": False}]
    write_lake(tmp_path, "lines", lines)
    upstream = Upstream()

    collect_from(upstream, settings_at(tmp_path, timetable_days_ahead=1), "timetables")

    assert ["v1/orari/015-00/2026-03-04", "v1/orari/015-00/2026-03-05"] == upstream.asked


def test_before_the_cutoff_today_is_still_yesterday(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0001"]})
    upstream = Upstream()
    night = datetime(2026, 3, 4, 1, 30, tzinfo=UTC)

    collect_from(upstream, settings_at(tmp_path, timetable_days_ahead=0), "timetables", start=night)

    assert ["v1/orari/015-00/2026-03-03"] == upstream.asked


@pytest.mark.parametrize(
    ("dataset", "path", "of_today"), [("timetables", "orari", "/2026-03-04"), ("stops", "fermate", "")]
)
def test_what_never_had_a_good_answer_comes_before_what_had_one(
    tmp_path: Path, dataset: str, path: str, of_today: str
) -> None:
    write_network(tmp_path, NETWORK)
    write_lake(tmp_path, "requests", [{"endpoint": dataset, "key": f"015-00{of_today}", "outcome": "ok"}])
    upstream = Upstream()

    collect_from(upstream, settings_at(tmp_path, timetable_days_ahead=0), dataset)

    assert [f"v1/{path}/016-00{of_today}", f"v1/{path}/015-00{of_today}"] == upstream.asked


def test_of_later_dates_only_those_are_asked_for_whose_answer_is_old(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0001"]})
    now = START.replace(tzinfo=None)
    ages = {"2026-03-04": 1, "2026-03-06": 23, "2026-03-07": 20, "2026-03-12": 24, "2026-03-13": 47}
    asked = {"endpoint": "timetables", "outcome": "ok"}
    write_lake(
        tmp_path,
        "requests",
        [
            {**asked, "key": f"015-00/{day}", "received_at": now - timedelta(hours=age)}
            for day, age in ages.items()
        ],
    )
    upstream = Upstream()

    collect_from(upstream, settings_at(tmp_path, timetable_days_ahead=9), "timetables")

    assert [4, 5, 8, 9, 10, 11, 13, 6] == [int(path[-2:]) for path in upstream.asked]


def test_timetables_that_got_no_permit_have_a_row_that_says_so(tmp_path: Path) -> None:
    write_network(tmp_path, {f"{n:03}-00": ["0001"] for n in range(30)})

    settings = settings_at(tmp_path, timetable_days_ahead=2)
    report = collect_from(Upstream(), settings, "timetables", seconds=20)

    assert 90 == report.planned == len(rows(tmp_path))
    assert {"ok", "not_sent"} == set(report.outcomes)
    assert report.outcomes["not_sent"] == 90 - report.sent
    assert all("permit" in row["error"] for row in rows(tmp_path) if row["outcome"] == "not_sent")


def test_a_transient_failure_is_tried_again_with_a_row_of_its_own(tmp_path: Path) -> None:
    answers = iter([httpx2.Response(503), httpx2.Response(200, json=[])])
    upstream = Upstream({"v1/linee": lambda _: next(answers)})

    collect_from(upstream, settings_at(tmp_path), "lines")

    assert ["server_error", "ok"] == [row["outcome"] for row in rows(tmp_path)]


def test_a_request_is_tried_a_limited_number_of_times(tmp_path: Path) -> None:
    upstream = Upstream({"v1/linee": lambda _: httpx2.Response(503)})

    report = collect_from(upstream, settings_at(tmp_path), "lines")

    assert {"server_error": 3} == report.outcomes
    assert report.is_failure


def test_status_is_polled_at_even_intervals_and_each_category_once(tmp_path: Path) -> None:
    write_lake(tmp_path, "status", [{"category": "XX"}])
    upstream = Upstream()

    collect_from(upstream, settings_at(tmp_path, status_interval_seconds=60), "status", seconds=300)

    whole = [row["planned_at"] for row in rows(tmp_path) if row["key"] == ""]
    gaps = [
        (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
        for earlier, later in itertools.pairwise(whole)
    ]
    assert 5 == len(whole)
    assert all(abs(gap - 60) < 3 for gap in gaps)
    categories = {f"v1/stato_servizio/categoria/{name}": 1 for name in ("ASC", "MM", "SG", "XX")}
    assert categories == {path: n for path, n in upstream.counts.items() if "categoria" in path}


def test_a_status_window_lasts_to_its_end_so_that_the_next_keeps_the_interval(tmp_path: Path) -> None:
    report = collect_from(Upstream(), settings_at(tmp_path), "status", seconds=100)

    assert 100 <= report.seconds < 103


def test_news_fetches_each_listed_item(tmp_path: Path) -> None:
    listed = [{"id": "n1", "titolo": "A", "data": "x"}, {"id": "n 2", "titolo": "B", "data": "y"}]
    upstream = Upstream({"v1/news": lambda r: reply_news(r, listed)})

    collect_from(upstream, settings_at(tmp_path), "news")

    assert {"news": 1, "news_details": 2} == Counter(row["endpoint"] for row in rows(tmp_path))


def test_a_listed_item_is_fetched_again_if_the_list_changed_it_or_its_text_is_old(tmp_path: Path) -> None:
    items = {
        "n1": "fetched a minute ago",
        "n2": "retitled",
        "n3": "fetched a day ago",
        "n4": "no longer listed",
    }
    listed_before = [
        {"news_id": news_id, "title": title, "published_text": "x", "request_id": "r", "row_number": n}
        for n, (news_id, title) in enumerate(items.items())
    ]
    fetched_at = {"n1": NOON - timedelta(minutes=1), "n3": NOON - timedelta(days=1)}
    write_lake(tmp_path, "news", listed_before, at=NOON - timedelta(days=2))
    write_lake(
        tmp_path,
        "news_details",
        [
            {"news_id": news_id, "received_at": fetched_at.get(news_id, NOON).replace(tzinfo=None)}
            for news_id in items
        ],
    )
    listed = [
        {"id": news_id, "titolo": title + ("!" if news_id == "n2" else ""), "data": "x"}
        for news_id, title in items.items()
        if news_id != "n4"
    ]
    upstream = Upstream({"v1/news": lambda r: reply_news(r, listed)})

    collect_from(upstream, settings_at(tmp_path), "news", start=NOON)

    assert ["v1/news", "v1/news/n2", "v1/news/n3"] == upstream.asked


def reply_news(request: httpx2.Request, listed: list[dict[str, str]]) -> httpx2.Response:
    is_list = request.url.path.endswith("/news")
    return httpx2.Response(200, json=listed if is_list else {"titolo": "T", "contenuto": "C"})


def test_version_0_is_collected_with_items_lines_and_four_digit_stops(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0001", "12345", "IS01"]})
    upstream = Upstream({"amt/news": lambda _: httpx2.Response(200, json={"news": [{"id": 7, "t": "x"}]})})

    collect_from(upstream, settings_at(tmp_path, token="t"), "legacy")

    expected = {"amt/stato-servizio", "amt/news", "amt/news/7", "amt/orari/015-00", "amt/transiti/0001"}
    assert expected == set(upstream.asked)
    assert {0} == {row["api_version"] for row in rows(tmp_path)}


def test_version_0_without_a_token_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(MissingTokenError, match="TRANSIT_LEGACY_TOKEN"):
        collect_from(Upstream(), settings_at(tmp_path), "legacy")
