"""A store of the budget keeps its state, shares it among callers, and says clearly when it cannot be used."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from itertools import product
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar
from uuid import uuid4

import pytest
from sqlalchemy import Engine, create_engine, event, text

from tests.collect.allowance.budgets import FAST, START
from tests.collect.postgresql import running_postgresql
from tests.collect.upstream import settings_at
from transit_etl.clock import SystemClock, VirtualClock
from transit_etl.collect.allowance import budget_store
from transit_etl.collect.allowance.budget import RECONNECT_SECONDS, Budget, BudgetClosedError, open_budget
from transit_etl.collect.allowance.budget_state import BudgetState, Limits
from transit_etl.collect.allowance.budget_store import (
    BudgetStoreError,
    MemoryStore,
    SqlStore,
    StoreUnreachableError,
    Work,
)
from transit_etl.collect.allowance.state_text import dumps, loads
from transit_etl.endpoints import Kind

T = TypeVar("T")
NOBODY = 65534


def _with_budget(
    url: str, use: Callable[[Budget], Coroutine[Any, Any, T]], limits: Limits = FAST, name: str = "shared"
) -> T:
    async def main() -> T:
        async with Budget(limits, SqlStore(url, name), SystemClock()) as budget:
            return await use(budget)

    return asyncio.run(main())


async def _permit_at(budget: Budget) -> float:
    await budget.acquire(Kind.PASSAGES)
    return time.monotonic()


async def _seconds_until_a_permit(budget: Budget) -> float:
    asked_at = time.monotonic()
    return await _permit_at(budget) - asked_at


def _overwrite_state(url: str, state: str) -> None:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE request_budget SET state = :state"), {"state": state})
    engine.dispose()


async def _granted(budget: Budget) -> int:
    return sum((await budget.snapshot()).granted.values())


def _create_stores(folder: Path, together: Barrier) -> None:
    for turn in range(40):  # few of them collide
        together.wait(timeout=30)
        _with_budget(f"sqlite:///{folder}/{turn}.sqlite", _granted)


@pytest.mark.long
def test_processes_that_create_a_store_at_the_same_moment_can_all_use_it(tmp_path: Path) -> None:
    n_processes, context = 4, get_context("spawn")
    together = context.Barrier(n_processes)
    processes = [
        context.Process(target=_create_stores, args=(tmp_path, together)) for _ in range(n_processes)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()

    assert [0] * n_processes == [process.exitcode for process in processes]


def test_a_state_survives_its_process(store_url: str) -> None:
    async def ask(budget: Budget) -> int:
        await budget.acquire(Kind.PASSAGES)
        return await _granted(budget)

    assert [1, 2] == [_with_budget(store_url, ask, Limits(60)) for _ in range(2)]


def test_credentials_in_one_store_do_not_share_a_window(store_url: str) -> None:
    async def ask(budget: Budget) -> int:
        await budget.acquire(Kind.PASSAGES)
        return await _granted(budget)

    assert [1, 1] == [_with_budget(store_url, ask, Limits(60), name) for name in ("one", "other")]


def test_a_429_in_one_process_stops_the_next(store_url: str) -> None:
    async def be_refused(budget: Budget) -> None:
        await budget.report_rate_limited(await budget.acquire(Kind.PASSAGES), 600)

    async def ask(budget: Budget) -> None:
        with pytest.raises(BudgetClosedError):
            await budget.acquire(Kind.STATUS, SystemClock().now() + timedelta(seconds=300))
        snapshot = await budget.snapshot()
        assert snapshot.blocked_until is not None
        assert 300 == pytest.approx(snapshot.current_rate * 2)

    _with_budget(store_url, be_refused, Limits(300))
    _with_budget(store_url, ask, Limits(300))


def test_a_caller_that_died_while_waiting_does_not_block_the_others(store_url: str) -> None:
    def die_waiting(state: BudgetState, now: float) -> int:
        state.advance(now, FAST, None)
        state.ask(now, "dead", Kind.STATUS, FAST)
        state.ask(now, "dead", Kind.STATUS, FAST)  # the first may have been granted
        return len(state.demands)

    async def ask(budget: Budget) -> int:
        other = SqlStore(store_url, "shared")
        n_waiting = await other.transact(die_waiting, time.time)
        await other.aclose()
        await budget.acquire(Kind.TIMETABLES, SystemClock().now() + timedelta(seconds=60))
        return n_waiting

    assert 1 == _with_budget(store_url, ask)


def test_many_callers_of_one_process_share_its_connection(store_url: str) -> None:
    async def ask(budget: Budget) -> set[float]:
        kinds = [Kind.PASSAGES, Kind.TIMETABLES] * 10
        permits = await asyncio.gather(*(budget.acquire(kind) for kind in kinds))
        return {permit.granted_at for permit in permits}

    assert 20 == len(_with_budget(store_url, ask))


@pytest.mark.parametrize(
    ("other", "n_stores"),
    [({}, 1), ({"token": "abcdefgh"}, 2), ({"base_url": "https://other.test/api/v1/"}, 2)],
)
def test_two_data_folders_share_the_allowance_of_one_upstream_and_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, str], n_stores: int
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))

    async def main() -> None:
        for settings in (settings_at(tmp_path / "a"), settings_at(tmp_path / "b", **other)):
            async with open_budget(settings, SystemClock()) as budget:
                await budget.acquire(Kind.STATUS)

    asyncio.run(main())

    assert n_stores == len(list((tmp_path / "user" / "transit-etl").glob("budget-*.sqlite")))
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("state", ["", "{}", "[1]", '{"format": 1, "permits": [[1]]}'])
def test_a_damaged_state_grants_nothing_for_a_window_and_everything_after_it(
    store_url: str, state: str
) -> None:
    _with_budget(store_url, _granted)
    _overwrite_state(store_url, state)

    assert FAST.span - 1 <= _with_budget(store_url, _seconds_until_a_permit)
    assert 1 >= _with_budget(store_url, _seconds_until_a_permit)


def test_a_folder_that_cannot_be_written_is_named_and_nothing_is_to_be_removed(tmp_path: Path) -> None:
    (tmp_path / "home").touch()

    with pytest.raises(BudgetStoreError, match="Let this user write it and its folder; ") as raised:
        _with_budget(f"sqlite:///{tmp_path}/home/state/budget.sqlite", _granted)

    assert "remove" not in str(raised.value)


def _said_as_another_user(url: str) -> list[str]:
    """Take a permit and read the state as a user who owns nothing; return what is said of it."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    said = []
    for use in (lambda: _with_budget(url, _permit_at), SqlStore(url, "shared").peek):
        try:
            use()
            said.append("")
        except BudgetStoreError as error:
            said.append(str(error))
    return said


@pytest.mark.parametrize(
    ("of_folder", "of_file", "is_read"),
    [(0o555, 0o666, True), (0o777, 0o444, True), (0o777, 0o000, False), (0o000, 0o666, False)],
    ids=["folder is read-only", "file is read-only", "file is secret", "folder is secret"],
)
def test_who_may_not_write_it_is_told_so_and_sends_nothing(
    of_folder: int, of_file: int, *, is_read: bool
) -> None:
    with TemporaryDirectory() as above:  # where every user may look
        Path(above).chmod(0o755)
        folder = Path(above) / "state"
        url = f"sqlite:///{folder}/budget.sqlite"
        _with_budget(url, _granted)
        (folder / "budget.sqlite").chmod(of_file)
        folder.chmod(of_folder)
        with ProcessPoolExecutor(1, get_context("fork")) as process:
            of_permit, of_state = process.submit(_said_as_another_user, url).result()
        folder.chmod(0o755)

    assert "nothing may be sent: " in of_permit
    assert "Let this user write it and its folder" in of_permit
    assert "remove" not in of_permit
    assert is_read == (of_state == "")


@pytest.fixture
def _full_disk() -> Iterator[None]:
    """Leave a file of SQLite no room for more than its first pages."""

    def fill(connection: Any, _: object) -> None:  # noqa: ANN401 - the driver's own connection
        connection.execute("PRAGMA max_page_count=3")

    event.listen(Engine, "connect", fill)
    yield
    event.remove(Engine, "connect", fill)


@pytest.mark.usefixtures("_full_disk")
def test_on_a_full_disk_room_is_asked_for(tmp_path: Path) -> None:
    async def need_room(budget: Budget) -> None:
        await budget.lease(await budget.acquire(Kind.NEWS), "a key of two pages" * 500)

    with pytest.raises(BudgetStoreError, match=r"disk is full\. Make room on its disk, or set"):
        _with_budget(f"sqlite:///{tmp_path}/budget.sqlite", need_room)


def test_a_state_of_another_version_is_an_error_and_stays_as_it_is(store_url: str) -> None:
    _with_budget(store_url, _granted)
    _overwrite_state(store_url, '{"format": 99}')

    for _ in range(2):
        with pytest.raises(BudgetStoreError, match="has format 99, this version has 1"):
            _with_budget(store_url, _granted)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "other content": lambda _: b"not a database, not at all" * 100,
    "a damaged header": lambda whole: b"\xff" * 64 + whole[64:],
    "a damaged second page": lambda whole: whole[:4096] + b"\xff" * 4096 + whole[8192:],
    "cut in the middle": lambda whole: whole[: len(whole) // 2],
    "cut within the header": lambda whole: whole[:50],
}


# SQLite still has the pages that it has read, and writes them anew.
HEALED_BY_SQLITE = (True, "a damaged second page")


@pytest.mark.parametrize(
    ("is_open", "name"), [each for each in product([True, False], DAMAGES) if each != HEALED_BY_SQLITE]
)
def test_a_damaged_file_is_replaced_and_nothing_is_granted_for_a_window(
    tmp_path: Path, name: str, *, is_open: bool
) -> None:
    damage = DAMAGES[name]
    path = tmp_path / "budget.sqlite"

    async def use_up(budget: Budget) -> list[float]:
        granted = [await _permit_at(budget) for _ in range(5)]
        if is_open:
            path.write_bytes(damage(path.read_bytes()))
            granted += [await _permit_at(budget) for _ in range(5)]
        return granted

    granted = _with_budget(f"sqlite:///{path}", use_up)
    if not is_open:
        path.write_bytes(damage(path.read_bytes()))
        granted += _with_budget(f"sqlite:///{path}", use_up)

    assert FAST.window <= granted[5] - granted[4]
    assert 10 == len(granted)


def test_after_a_file_is_removed_while_it_is_used_nothing_is_granted_for_a_window(tmp_path: Path) -> None:
    path = tmp_path / "budget.sqlite"

    async def use_up(budget: Budget) -> list[float]:
        granted = [await _permit_at(budget) for _ in range(5)]
        path.unlink()
        return [*granted, await _permit_at(budget)]

    granted = _with_budget(f"sqlite:///{path}", use_up)

    assert FAST.window <= granted[5] - granted[4]


def test_a_locked_store_is_an_error_after_a_timeout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget_store, "LOCK_TIMEOUT_SECONDS", 0.2)
    path = tmp_path / "budget.sqlite"
    _with_budget(f"sqlite:///{path}", _granted)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    with pytest.raises(BudgetStoreError, match="database is locked"):
        _with_budget(f"sqlite:///{path}", _granted)
    holder.close()

    assert 0 == _with_budget(f"sqlite:///{path}", _granted)


def test_a_failed_transaction_leaves_the_store_usable(tmp_path: Path) -> None:
    async def main() -> int:
        store = SqlStore(f"sqlite:///{tmp_path}/budget.sqlite", "shared")

        def fail(state: BudgetState, now: float) -> None:
            state.blocked_until = now + 999
            raise ZeroDivisionError

        async with Budget(FAST, store, SystemClock()) as budget:
            with pytest.raises(ZeroDivisionError):
                await store.transact(fail, time.time)
            assert (await budget.snapshot()).blocked_until is None
            return await _granted(budget)

    assert 0 == asyncio.run(main())


def test_a_server_that_is_not_there_is_named_without_its_password() -> None:
    with pytest.raises(BudgetStoreError) as error:
        _with_budget("postgresql://user:pa55word@127.0.0.1:9/transit", _granted)

    assert "postgresql+psycopg://user:***@127.0.0.1:9/transit" in str(error.value)
    assert "Let its server answer" in str(error.value)
    assert "pa55word" not in str(error.value)


def test_a_state_reads_back_as_it_was_written() -> None:
    state = BudgetState()
    for turn, kind in enumerate(Kind):
        state.advance(1000.0 + 2 * turn, Limits(60), None)
        state.ask(1000.0 + 2 * turn, uuid4().hex, kind, Limits(60))
    state.ask(1010.1, "waiting", Kind.NEWS, Limits(60))
    state.slow_down(1010.2, 1010.0, 7.0, Limits(60))

    assert state == loads(dumps(state))
    assert state.permits
    assert state.demands


def test_a_server_that_restarts_is_waited_for() -> None:
    with running_postgresql() as server:

        async def use(budget: Budget) -> int:
            await budget.acquire(Kind.PASSAGES)
            restart = asyncio.create_task(asyncio.to_thread(server.restart))
            while not restart.done():
                await budget.acquire(Kind.PASSAGES)
            await restart
            return await _granted(budget)

        assert 0 < _with_budget(f"postgresql://postgres@/postgres?host={server.folder}", use)


class _Unreachable(MemoryStore):
    """A store whose server was reached once."""

    async def transact(self, work: Work[T], now: Callable[[], float]) -> T:  # noqa: ARG002 - not reached
        raise StoreUnreachableError("the server is gone")


@pytest.mark.parametrize(
    ("deadline_seconds", "error", "waited_seconds"),
    [(None, StoreUnreachableError, RECONNECT_SECONDS), (5, BudgetClosedError, 5)],
)
def test_a_server_that_stays_away_is_waited_for_no_longer_than_it_makes_sense(
    deadline_seconds: float | None, error: type[Exception], waited_seconds: float
) -> None:
    clock = VirtualClock(START)
    deadline = deadline_seconds and START + timedelta(seconds=deadline_seconds)

    async def main() -> float:
        with pytest.raises(error):
            await Budget(FAST, _Unreachable(), clock).acquire(Kind.PASSAGES, deadline or None)
        return (clock.now() - START).total_seconds()

    assert waited_seconds == pytest.approx(clock.run(main()), abs=1)
