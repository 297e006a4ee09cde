"""What breaks while a collection runs is one clear error, and no answer received is lost."""

import errno
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from tests.collect.helpers import rows, write_network
from tests.collect.upstream import Upstream, collect_from, settings_at
from transit_etl.clock import SystemClock
from transit_etl.collect import collect
from transit_etl.collect.allowance import budget_store
from transit_etl.collect.allowance.budget_store import BudgetStoreError
from transit_etl.collect.raw import rawfile
from transit_etl.collect.raw.rawfile import DataFolderError
from transit_etl.collect.raw.recovery import recover

N_LINES = 12
AFTER = 4


def after(count: int, breakage: Callable[[], object]) -> Callable[[httpx2.Request], httpx2.Response]:
    """Answer like a healthy upstream; the breakage comes with the request of this number."""
    numbers = iter(range(10_000))
    upstream = Upstream()

    def answer(request: httpx2.Request) -> httpx2.Response:
        if next(numbers) == count:
            breakage()
        return upstream(request)

    return answer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    write_network(data, {f"{n:03}-00": ["0001"] for n in range(N_LINES)})
    return data


def test_a_full_disk_ends_the_collection_and_loses_only_the_answers_in_flight(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def fill_up() -> None:
        monkeypatch.setattr(rawfile, "_write_all", refuse)

    with pytest.raises(DataFolderError, match=f"data folder {folder}: No space left on device"):
        collect_from(after(AFTER, fill_up), settings_at(folder), "stops")
    monkeypatch.undo()
    recover(folder)
    outcomes = [row["outcome"] for row in rows(folder)]

    assert AFTER == outcomes.count("ok")
    assert {"ok", "interrupted"} >= set(outcomes)
    assert len(outcomes) == len({row["request_id"] for row in rows(folder)})


def test_a_data_folder_that_disappears_is_named_in_the_error(folder: Path) -> None:
    with pytest.raises(DataFolderError, match=f"data folder {folder}"):
        collect_from(after(AFTER, lambda: shutil.rmtree(folder)), settings_at(folder), "stops")


def test_a_locked_budget_ends_the_collection_with_every_request_in_the_ledger(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget_store, "LOCK_TIMEOUT_SECONDS", 0.2)
    holder = sqlite3.connect(folder / "budget.sqlite", isolation_level=None, check_same_thread=False)
    settings = settings_at(folder, rate_per_minute=600, limiter_url=f"sqlite:///{folder / 'budget.sqlite'}")
    upstream = after(AFTER, lambda: holder.execute("BEGIN IMMEDIATE"))

    with pytest.raises(BudgetStoreError, match=r"nothing may be sent: .*database is locked"):
        collect(settings, "stops", clock=SystemClock(), transport=httpx2.MockTransport(upstream))
    holder.close()
    found = {row["key"]: row for row in rows(folder)}

    assert N_LINES == len(found)
    assert {"ok", "not_sent"} == {row["outcome"] for row in found.values()}
    assert all("database is locked" in row["error"] for row in found.values() if row["outcome"] == "not_sent")
    assert [] == list(folder.rglob("*.part"))


def test_an_upstream_that_stops_answering_is_in_the_ledger_to_the_end_of_the_window(folder: Path) -> None:
    is_dead = False

    def die() -> None:
        nonlocal is_dead
        is_dead = True

    healthy = after(30, die)

    def answer(request: httpx2.Request) -> httpx2.Response:
        if is_dead:
            raise httpx2.ConnectError("connection refused")
        return healthy(request)

    report = collect_from(answer, settings_at(folder), "passages", seconds=120)
    landed = rows(folder)

    assert 31 == report.outcomes["ok"]
    assert report.outcomes["connection_error"] >= 5  # slowly, but to the end of the window
    assert report.planned == len(landed)
    assert {"ok", "connection_error"} >= {row["outcome"] for row in landed} - {"interrupted"}
    assert not report.is_failure
