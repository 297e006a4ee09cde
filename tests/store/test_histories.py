"""Whatever two hosts do in whatever order, and whatever fails between: their lakes end equal and whole."""

import random
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from unittest.mock import patch

import httpx2
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.store.hosts import Host, host
from tests.store.server import Fault, Proxy
from transit_etl.store import local_day
from transit_etl.store.errors import StoreError

STEPS = ["land", "stage", "compact", "sync", "restage"]
histories = st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from(STEPS)), min_size=3, max_size=20)
# The compaction of one host holds a window that the other one has staged again, and the reverse.
RESTAGED_AND_COMPACTED = [
    ("a", "land"), ("a", "land"), ("a", "stage"), ("a", "sync"), ("b", "sync"),
    ("a", "compact"), ("b", "restage"), ("b", "sync"), ("a", "sync"),
]  # fmt: skip
BOTH_COMPACTED = [
    ("a", "land"), ("b", "land"), ("a", "stage"), ("b", "stage"), ("a", "compact"), ("b", "compact"),
]  # fmt: skip
_NUMBERS = count(1)


@contextmanager
def new_pair(proxy: Proxy) -> Iterator[dict[str, Host]]:
    """Make two hosts that share a new place in the store."""
    address, name = proxy.target, f"history-{next(_NUMBERS)}"
    httpx2.put(f"http://{address[0]}:{address[1]}/{name}").raise_for_status()
    proxy.choose = lambda _method, _path: None
    with tempfile.TemporaryDirectory() as folder:
        yield {each: host(Path(folder) / each, f"s3://{name}/lake") for each in "ab"}


def run(
    history: list[tuple[str, str]], pair: dict[str, Host], proxy: Proxy, seed: int, share: float
) -> set[str]:
    """Run a history, of whose requests a share is spoilt; return the windows that were landed."""
    chance = random.Random(seed)  # noqa: S311 - repeats a failure
    faults = list(Fault)
    landed = set()
    for number, (name, step) in enumerate(history):
        each = pair[name]
        if step == "land":
            landed.add(each.land(f"{name}{number}"))
        elif step == "restage":
            each.restage(2 + number)
        elif step == "sync":
            proxy.choose = lambda _method, _path: chance.choice(faults) if chance.random() < share else None
            with suppress(StoreError):
                assert [] == each.sync().errors
            proxy.choose = lambda _method, _path: None
        else:
            getattr(each, step)()
        assert_each_window_once(each)
    return landed


def assert_each_window_once(each: Host) -> None:
    """Check that no window has its requests twice, and that none is a mixture of two readings."""
    assert {2} >= set(each.counts().values())
    assert all(1 == len(versions) for versions in each.versions().values())


def settle(pair: dict[str, Host]) -> None:
    """Let both hosts stage and compare until nothing is left to do."""
    for _ in range(4):
        n_done = 0
        for each in pair.values():
            first = each.sync()
            each.stage()
            second = each.sync()
            n_done += sum(
                report.n_raw_sent + report.n_raw_fetched + report.n_files_fetched + report.n_days_published
                for report in (first, second)
            )
        if not n_done:
            return


def check_history(history: list[tuple[str, str]], proxy: Proxy, seed: int, share: float) -> None:
    with new_pair(proxy) as pair:
        landed = run(history, pair, proxy, seed, share)
        settle(pair)

        for each in pair.values():
            assert_each_window_once(each)
            assert landed == set(each.counts())
        assert pair["a"].files() == pair["b"].files()


@pytest.mark.parametrize("share", [0.0, 0.2])
@pytest.mark.parametrize("history", [RESTAGED_AND_COMPACTED, BOTH_COMPACTED])
def test_hosts_end_with_one_lake_that_has_each_window_once(
    proxy: Proxy, history: list[tuple[str, str]], share: float
) -> None:
    check_history(history, proxy, 1, share)


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(900)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(histories, st.integers(0, 100_000), st.sampled_from([0.0, 0.1, 0.3, 0.6]))
def test_hosts_end_with_one_lake_after_any_history(
    proxy: Proxy, history: list[tuple[str, str]], seed: int, share: float
) -> None:
    check_history(history, proxy, seed, share)


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.long
@pytest.mark.parametrize("n_changes", range(4))
def test_a_host_that_is_killed_while_a_day_changes_goes_on_from_there(proxy: Proxy, n_changes: int) -> None:
    with new_pair(proxy) as pair:
        a, b = pair["a"], pair["b"]
        landed = {a.land(f"w{number}") for number in range(5)}
        a.stage()
        a.sync()
        b.sync()
        a.compact()
        a.sync()
        late = b.land("w6")
        b.stage()
        change, left = local_day._change_folder, [None] * n_changes  # noqa: SLF001

        def kill(*words: object) -> None:
            if not left:
                raise Killed
            left.pop()
            change(*words)  # type: ignore[arg-type]

        with patch.object(local_day, "_change_folder", kill), suppress(Killed):
            b.sync()
        settle(pair)

        assert {*landed, late} == set(a.counts()) == set(b.counts())
        assert_each_window_once(b)
        assert a.files() == b.files()
