"""A collection uses its allowance, ends in time and survives what the upstream does."""

import itertools
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest

from tests.collect.helpers import NOON, STOP, killed_landing, rows, write_network
from tests.collect.upstream import START, Upstream, collect_from, settings_at
from transit_etl.clock import VirtualClock
from transit_etl.collect import Progress, collect
from transit_etl.collect.allowance.budget_store import MemoryStore

NETWORK = {"015-00": ["0001", "0002"], "016-00": ["0002", "0003"]}


@pytest.mark.parametrize("rate", [60, 300])
def test_passages_use_at_least_95_percent_of_the_allowance(tmp_path: Path, rate: int) -> None:
    write_network(tmp_path, NETWORK)

    report = collect_from(Upstream(), settings_at(tmp_path, rate_per_minute=rate), "passages", seconds=300)

    assert 0.95 <= report.allowance_share <= 1.0
    assert report.planned == report.sent == len(rows(tmp_path))


def test_a_window_of_passages_ends_within_three_seconds_of_its_deadline(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)

    report = collect_from(Upstream(), settings_at(tmp_path), "passages", seconds=60)
    last_sent = datetime.fromisoformat(max(row["sent_at"] for row in rows(tmp_path)))

    assert 58 <= (last_sent - START).total_seconds() <= 60
    assert report.seconds <= 63


def test_every_stop_is_polled_when_nothing_is_known_of_any(tmp_path: Path) -> None:
    stops = [f"{n:04}" for n in range(100)]
    write_network(tmp_path, {"015-00": stops})
    upstream = Upstream()

    collect_from(upstream, settings_at(tmp_path), "passages", seconds=110)

    assert {f"v1/passaggi/{stop}" for stop in stops} == set(upstream.asked)


def test_windows_of_a_killed_collector_are_finished_first(tmp_path: Path) -> None:
    with killed_landing(tmp_path) as landing:
        landing.plan(STOP)

    report = collect_from(Upstream(), settings_at(tmp_path), "lines")

    assert 1 == len(report.recovered)
    assert {"ok", "interrupted"} == {row["outcome"] for row in rows(tmp_path)}


def test_a_window_around_midnight_becomes_one_file_a_day(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)
    before = datetime(2026, 3, 4, 23, 59, tzinfo=UTC)

    report = collect_from(Upstream(), settings_at(tmp_path), "passages", seconds=120, start=before)

    assert ["date=2026-03-04", "date=2026-03-05"] == [path.parent.name for path in report.windows]
    assert report.planned == len({row["request_id"] for row in rows(tmp_path)})


def test_progress_counts_the_good_and_the_expected_requests_of_a_list(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)
    seen: list[Progress] = []
    collect(
        settings_at(tmp_path),
        "stops",
        clock=VirtualClock(NOON),
        store=MemoryStore(),
        transport=httpx2.MockTransport(Upstream()),
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
            transport=httpx2.MockTransport(Upstream()),
            on_progress=fail,
        )
    assert ["ok"] == [row["outcome"] for row in rows(tmp_path)]


def test_a_list_is_given_up_when_nothing_is_answered_with_every_request_in_the_ledger(tmp_path: Path) -> None:
    write_network(tmp_path, {f"{n:03}-00": ["0001"] for n in range(30)})

    report = collect_from(unreachable, settings_at(tmp_path), "stops")

    assert report.is_failure
    assert set(report.outcomes) == {"connection_error", "not_sent"}
    assert 30 == len({row["key"] for row in rows(tmp_path)})
    assert any("unanswered" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    ("dataset", "status", "advice"),
    [
        ("lines", 404, "http://t.test/api/v1/ gives no usable answer: HTTP 404; look at TRANSIT_BASE_URL"),
        ("lines", 403, "http://t.test/api/v1/ refuses the token: HTTP 403; look at TRANSIT_TOKEN"),
        ("legacy", 403, "http://t.test/api/amt/ refuses the token: HTTP 403; look at TRANSIT_LEGACY_TOKEN"),
        (
            "legacy",
            404,
            (
                "http://t.test/api/amt/ gives no usable answer: HTTP 404; "
                "look at TRANSIT_LEGACY_BASE_URL and TRANSIT_OPERATOR_SEGMENT"
            ),
        ),
    ],
)
def test_a_collection_without_a_usable_answer_says_which_setting_to_look_at(
    tmp_path: Path, dataset: str, status: int, advice: str
) -> None:
    write_network(tmp_path, NETWORK)
    settings = settings_at(tmp_path, base_url="http://t.test/api/v1/", token="t")
    report = collect_from(lambda _: httpx2.Response(status), settings, dataset)

    assert report.is_failure
    assert f"no usable answer for {dataset}: {report.outcome_text}; {advice}" == report.failure_text


@pytest.mark.parametrize(("status", "n_attempts"), [(None, 2), (502, 1), (503, 1), (504, 1)])
def test_polling_slows_down_without_answers_and_goes_on_at_full_rate_after_that(
    tmp_path: Path, status: int | None, n_attempts: int
) -> None:
    write_network(tmp_path, NETWORK)
    n_silent = 8
    count = iter(range(10_000))

    def silent_at_first(request: httpx2.Request) -> httpx2.Response:
        if next(count) >= n_attempts * n_silent:
            return Upstream()(request)
        return unreachable(request) if status is None else httpx2.Response(status)

    report = collect_from(silent_at_first, settings_at(tmp_path), "passages", seconds=300)
    bad = [row["sent_at"] for row in rows(tmp_path) if row["outcome"] != "ok"]
    first, last = datetime.fromisoformat(min(bad)), datetime.fromisoformat(max(bad))

    assert n_silent == len(bad)
    assert timedelta(seconds=30) < last - first
    assert report.outcomes["ok"] > 150
    assert not report.is_failure


def test_requests_that_never_left_use_no_allowance(tmp_path: Path) -> None:
    settings = settings_at(tmp_path)
    away = collect_from(unreachable, settings, "lines")
    there = collect_from(Upstream(), settings, "lines")

    assert (3, 0) == (away.sent, away.allowance_share)
    assert round(1 / 60, 4) == there.allowance_share


def test_a_window_is_given_up_when_no_answer_is_usable_for_too_long(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)
    count = iter(range(10_000))

    def refusing_later(request: httpx2.Request) -> httpx2.Response:
        return Upstream()(request) if next(count) < 30 else httpx2.Response(401)

    report = collect_from(
        refusing_later, settings_at(tmp_path), "passages", seconds=600, patience_seconds=120
    )

    assert report.is_given_up
    assert 30 == report.outcomes["ok"]
    assert 140 <= report.seconds <= 160


def test_a_window_is_not_given_up_while_some_answers_are_usable(tmp_path: Path) -> None:
    write_network(tmp_path, NETWORK)
    count = iter(range(10_000))

    def refusing_mostly(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(401) if next(count) % 30 else Upstream()(request)

    report = collect_from(
        refusing_mostly, settings_at(tmp_path), "passages", seconds=300, patience_seconds=60
    )

    assert not report.is_given_up
    assert 299 <= report.seconds


def unreachable(_: httpx2.Request) -> httpx2.Response:
    raise httpx2.ConnectError("connection refused")


@pytest.mark.parametrize(
    ("status", "outcome", "fewest", "most"), [(429, "rate_limited", 45, 75), (503, "server_error", 93, 101)]
)
def test_when_told_to_wait_the_collection_does_and_only_a_429_slows_it_down(
    tmp_path: Path, status: int, outcome: str, fewest: int, most: int
) -> None:
    write_network(tmp_path, NETWORK)
    count = iter(range(10_000))

    def told_once(request: httpx2.Request) -> httpx2.Response:
        if next(count) == 5:
            return httpx2.Response(status, headers={"Retry-After": "20"})
        return Upstream()(request)

    collect_from(told_once, settings_at(tmp_path), "passages", seconds=120)
    sent = sorted(datetime.fromisoformat(row["sent_at"]) for row in rows(tmp_path))
    longest = max(later - earlier for earlier, later in itertools.pairwise(sent))

    assert timedelta(seconds=20) <= longest < timedelta(seconds=30)
    assert 1 == sum(row["outcome"] == outcome for row in rows(tmp_path))
    assert fewest <= len(sent) <= most
