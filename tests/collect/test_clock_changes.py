"""A clock that is set while a window is collected neither stretches the window nor spoils its answers."""

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

import duckdb
import httpx2
import pytest

from tests.collect.helpers import STOP, answer, landing_at, rows, write_network
from tests.collect.upstream import START, Upstream, settings_at
from transit_etl.clock import VirtualClock
from transit_etl.collect import CollectReport, collect
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.paths import lake_files
from transit_etl.stage import stage

CHANGES = [
    timedelta(seconds=-20),
    timedelta(hours=1),
    timedelta(hours=-1),
    timedelta(days=4),
    timedelta(days=-4),
]
CHANGES += [timedelta(days=267), timedelta(days=-267)]
WINDOW_SECONDS = 60


class SetClock(VirtualClock):
    """A clock that somebody sets; its stopwatch goes on."""

    change = timedelta()

    def now(self) -> datetime:
        """Return the instant, as the clock was set."""
        return super().now() + self.change


@pytest.fixture(params=CHANGES, ids=str)
def change(request: pytest.FixtureRequest) -> timedelta:
    """Return by how much the clock is set."""
    found: timedelta = request.param
    return found


def _collect(
    folder: Path, dataset: str, change: timedelta, *, at_request: int
) -> tuple[CollectReport, float]:
    """Collect while the clock is set during one of the requests; return how long it took, too."""
    write_network(folder, {"015-00": ["0001", "0002"], "016-00": ["0002", "0003"]})
    clock, upstream = SetClock(START), Upstream()

    def answer(request: httpx2.Request) -> httpx2.Response:
        response = upstream(request)
        if len(upstream.asked) == at_request:
            clock.change = change
        return response

    begun = clock.stopwatch()
    report = collect(
        settings_at(folder),
        dataset,
        seconds=WINDOW_SECONDS,
        clock=clock,
        store=MemoryStore(),
        transport=httpx2.MockTransport(answer),
    )
    return report, clock.stopwatch() - begun


@pytest.mark.parametrize("dataset", ["passages", "status", "stops"])
def test_a_window_is_neither_stretched_nor_cut(tmp_path: Path, dataset: str, change: timedelta) -> None:
    undisturbed, seconds = _collect(tmp_path / "undisturbed", dataset, timedelta(), at_request=2)
    report, seconds_with_change = _collect(tmp_path / "set", dataset, change, at_request=2)

    assert abs(seconds_with_change - seconds) <= 3
    assert abs(report.sent - undisturbed.sent) <= 0.1 * undisturbed.sent


def test_every_answer_is_staged(tmp_path: Path, change: timedelta) -> None:
    report, _ = _collect(tmp_path, "passages", change, at_request=20)
    staged = stage(settings_at(tmp_path))
    files = [str(path) for path in lake_files(tmp_path, "requests", "emulated")]
    outcomes = duckdb.execute(
        "select outcome, count(*) from read_parquet(?) group by all", [files]
    ).fetchall()

    assert ([], []) == (staged.errors, staged.rejected)
    assert not staged.quarantined
    assert Counter(row["outcome"] for row in rows(tmp_path)) == dict(outcomes)
    assert report.planned == sum(count for _, count in outcomes)


def test_an_answer_is_received_as_long_after_its_request_as_it_took(
    tmp_path: Path, change: timedelta
) -> None:
    _collect(tmp_path, "passages", change, at_request=5)
    answered = [row for row in rows(tmp_path) if row["received_at"]]
    taken = [
        datetime.fromisoformat(row["received_at"]) - datetime.fromisoformat(row["sent_at"])
        for row in answered
    ]

    assert [row["elapsed_ms"] for row in answered] == [one / timedelta(milliseconds=1) for one in taken]


def test_a_window_of_requests_planned_days_before_their_answers_is_staged(tmp_path: Path) -> None:
    with landing_at(tmp_path, START) as landing:
        for days in (0, 4):
            landing.land(landing.plan(STOP, START), answer(START + timedelta(days=days)))
    staged = stage(settings_at(tmp_path, operator="emulated"))

    assert ([], [], 2) == (staged.errors, staged.rejected, staged.rows["requests"])


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
