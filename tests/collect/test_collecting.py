import itertools
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from tests.collect.helpers import NOON, STOP, abandon, landing_at, rows, write_lake, write_network
from tests.collect.upstream import START, Upstream, collect_from, settings_at
from transit_etl.api.client import MissingTokenError
from transit_etl.clock import VirtualClock
from transit_etl.collect import Progress, collect
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.collect.catalogue import NothingKnownError
from transit_etl.collect.datasets import UnknownDatasetError

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
def test_what_needs_the_network_says_what_to_run_first(tmp_path: Path, dataset: str) -> None:
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


def test_a_timetable_never_received_comes_before_one_known(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)
    write_lake(
        tmp_path, "requests", [{"endpoint": "timetables", "key": "015-00/2026-03-04", "outcome": "ok"}]
    )
    upstream = Upstream()

    collect_from(upstream, settings_at(tmp_path, timetable_days_ahead=0), "timetables")

    assert ["v1/orari/016-00/2026-03-04", "v1/orari/015-00/2026-03-04"] == upstream.asked


def test_timetables_that_found_no_permit_have_a_row_that_says_so(tmp_path: Path) -> None:
    write_network(tmp_path, {f"{n:03}-00": ["0001"] for n in range(30)})

    report = collect_from(Upstream(), settings_at(tmp_path), "timetables", seconds=20)

    assert 90 == report.planned == len(rows(tmp_path))
    assert {"ok", "not_sent"} == set(report.outcomes)
    assert report.outcomes["not_sent"] == 90 - report.sent
    assert all("permit" in row["error"] for row in rows(tmp_path) if row["outcome"] == "not_sent")


def test_a_request_that_failed_in_passing_is_tried_again_with_a_row_of_its_own(tmp_path: Path) -> None:
    answers = iter([httpx.Response(503), httpx.Response(200, json=[])])
    upstream = Upstream({"v1/linee": lambda _: next(answers)})

    collect_from(upstream, settings_at(tmp_path), "lines")

    assert ["server_error", "ok"] == [row["outcome"] for row in rows(tmp_path)]


def test_a_request_is_not_tried_for_ever(tmp_path: Path) -> None:
    upstream = Upstream({"v1/linee": lambda _: httpx.Response(503)})

    report = collect_from(upstream, settings_at(tmp_path), "lines")

    assert {"server_error": 3} == report.outcomes
    assert not report.is_failure


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


def test_news_already_fetched_is_left_alone_unless_it_changed(tmp_path: Path) -> None:
    listed = [{"id": "n1", "titolo": "A", "data": "x"}, {"id": "n2", "titolo": "B, updated", "data": "y"}]
    write_lake(
        tmp_path,
        "news",
        [
            {"news_id": "n1", "title": "A", "published_text": "x"},
            {"news_id": "n2", "title": "B", "published_text": "y"},
        ],
    )
    write_lake(tmp_path, "news_details", [{"news_id": "n1"}, {"news_id": "n2"}])
    upstream = Upstream({"v1/news": lambda r: reply_news(r, listed)})

    collect_from(upstream, settings_at(tmp_path), "news")

    assert ["v1/news", "v1/news/n2"] == upstream.asked


def reply_news(request: httpx.Request, listed: list[dict[str, str]]) -> httpx.Response:
    is_list = request.url.path.endswith("/news")
    return httpx.Response(200, json=listed if is_list else {"titolo": "T", "contenuto": "C"})


def test_version_0_is_collected_with_items_lines_and_four_digit_stops(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0001", "12345", "IS01"]})
    upstream = Upstream({"amt/news": lambda _: httpx.Response(200, json={"news": [{"id": 7, "t": "x"}]})})

    collect_from(upstream, settings_at(tmp_path, token="t"), "legacy")

    expected = {"amt/stato-servizio", "amt/news", "amt/news/7", "amt/orari/015-00", "amt/transiti/0001"}
    assert expected == set(upstream.asked)
    assert {0} == {row["api_version"] for row in rows(tmp_path)}


def test_version_0_without_a_token_is_refused_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(MissingTokenError, match="TRANSIT_LEGACY_TOKEN"):
        collect_from(Upstream(), settings_at(tmp_path), "legacy")


@pytest.mark.parametrize("rate", [60, 300])
def test_passages_use_at_least_95_percent_of_the_allowance(tmp_path: Path, rate: int) -> None:
    write_network(tmp_path, NETWORK)

    report = collect_from(Upstream(), settings_at(tmp_path, rate_per_minute=rate), "passages", seconds=300)

    assert 0.95 <= report.allowance_share <= 1.0
    assert report.planned == report.sent == len(rows(tmp_path))


def test_passages_hand_over_within_three_seconds_of_the_windows_end(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)

    report = collect_from(Upstream(), settings_at(tmp_path), "passages", seconds=60)
    last_sent = datetime.fromisoformat(max(row["sent_at"] for row in rows(tmp_path)))

    assert 58 <= (last_sent - START).total_seconds() <= 60
    assert report.seconds <= 63


def test_every_stop_is_looked_at_when_nothing_is_known(tmp_path: Path) -> None:
    stops = [f"{n:04}" for n in range(100)]
    write_network(tmp_path, {"015-00": stops})
    upstream = Upstream()

    collect_from(upstream, settings_at(tmp_path), "passages", seconds=110)

    assert {f"v1/passaggi/{stop}" for stop in stops} == set(upstream.asked)


def test_windows_of_a_killed_collector_are_finished_first(tmp_path: Path) -> None:
    killed = landing_at(tmp_path)
    killed.plan(STOP)
    abandon(killed)

    report = collect_from(Upstream(), settings_at(tmp_path), "lines")

    assert 1 == len(report.recovered)
    assert {"ok", "interrupted"} == {row["outcome"] for row in rows(tmp_path)}


def test_a_window_around_midnight_becomes_one_file_a_day(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)
    before = datetime(2026, 3, 4, 23, 59, tzinfo=UTC)

    report = collect_from(Upstream(), settings_at(tmp_path), "passages", seconds=120, start=before)

    assert ["date=2026-03-04", "date=2026-03-05"] == [path.parent.name for path in report.windows]
    assert report.planned == len({row["request_id"] for row in rows(tmp_path)})


def test_progress_tells_how_far_a_list_is(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)
    seen: list[Progress] = []
    collect(
        settings_at(tmp_path),
        "stops",
        clock=VirtualClock(NOON),
        store=MemoryStore(),
        transport=httpx.MockTransport(Upstream()),
        on_progress=seen.append,
    )

    assert [1, 2] == sorted({progress.n_good for progress in seen})
    assert {2} == {progress.n_expected for progress in seen}


def test_a_callback_that_fails_ends_the_run_and_loses_no_answer(tmp_path: Path) -> None:
    def fail(_: Progress) -> None:
        raise RuntimeError("the screen is gone")

    with pytest.raises(RuntimeError, match="the screen is gone"):
        collect(
            settings_at(tmp_path),
            "lines",
            clock=VirtualClock(NOON),
            store=MemoryStore(),
            transport=httpx.MockTransport(Upstream()),
            on_progress=fail,
        )
    assert ["ok"] == [row["outcome"] for row in rows(tmp_path)]


def test_an_upstream_that_never_answers_is_given_up_with_every_request_in_the_ledger(tmp_path: Path) -> None:
    write_network(tmp_path, {f"{n:03}-00": ["0001"] for n in range(30)})

    report = collect_from(unreachable, settings_at(tmp_path), "stops")

    assert report.is_failure
    assert set(report.outcomes) == {"connection_error", "not_sent"}
    assert 30 == len({row["key"] for row in rows(tmp_path)})
    assert any("unanswered" in warning for warning in report.warnings)


def test_polling_goes_on_slowly_while_the_upstream_is_silent_and_fast_when_it_is_back(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)
    n_silent = 8
    count = iter(range(10_000))

    def silent_at_first(request: httpx.Request) -> httpx.Response:
        return unreachable(request) if next(count) < 2 * n_silent else Upstream()(request)

    report = collect_from(silent_at_first, settings_at(tmp_path), "passages", seconds=300)

    assert n_silent == report.outcomes["connection_error"]
    assert report.outcomes["ok"] > 150
    assert not report.is_failure


def unreachable(_: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("connection refused")


def test_a_429_slows_everyone_and_the_run_goes_on(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)
    count = iter(range(10_000))

    def limited_once(request: httpx.Request) -> httpx.Response:
        if next(count) == 5:
            return httpx.Response(429, headers={"Retry-After": "20"})
        return Upstream()(request)

    collect_from(limited_once, settings_at(tmp_path), "passages", seconds=120)
    sent = sorted(datetime.fromisoformat(row["sent_at"]) for row in rows(tmp_path))
    longest = max(later - earlier for earlier, later in itertools.pairwise(sent))

    assert timedelta(seconds=20) <= longest < timedelta(seconds=30)
    assert 1 == sum(row["outcome"] == "rate_limited" for row in rows(tmp_path))
