"""Two hosts that share a lake, from an upstream to figures: one collects, the other one stages and builds."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest

from tests.journey import Journey
from tests.store.server import Fault, proxied, served
from transit_emulator.process import emulator_process
from transit_etl.paths import all_lake_files, quarantine_files, raw_files

pytestmark = [
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.timeout(900),
]


@dataclass(frozen=True)
class Shared:
    """What two hosts have at the end, and how many requests of the store were spoilt."""

    collector: Journey
    builder: Journey
    n_faults: int


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """Collect on one host while the store fails now and then; stage, build and publish on the other one."""
    folder = tmp_path_factory.mktemp("shared")
    chance, faults = random.Random(1), list(Fault)  # noqa: S311 - repeats a failure
    with (
        served() as address,
        proxied(address) as proxy,
        emulator_process("--log", str(folder / "answers.jsonl")) as upstream,
    ):
        httpx2.put(f"http://{address[0]}:{address[1]}/transit").raise_for_status()
        about = httpx2.get(f"http://127.0.0.1:{upstream.port}/", timeout=10).json()
        now = datetime.fromisoformat(about["suggested_now"])
        settings = {
            "TRANSIT_BASE_URL": f"http://127.0.0.1:{upstream.port}/api/v1/",
            "TRANSIT_TOKEN": "demo-token",
            "TRANSIT_TIMETABLE_DAYS_AHEAD": "0",
            "TRANSIT_CLOCK_SHIFT_SECONDS": str((now - datetime.now(UTC)).total_seconds()),
            "TRANSIT_LAKE_URL": "s3://transit/lake",
        }
        hosts = [
            Journey(folder, {**settings, "TRANSIT_DATA_DIR": str(folder / name)}, about)
            for name in ("collector", "builder")
        ]
        collector, builder = hosts
        proxy.choose = lambda _method, _path: chance.choice(faults) if chance.random() < 0.1 else None
        for dataset in ("lines", "stops"):
            collector.run("collect", dataset)
            collector.run("stage")
        collector.run("collect", "timetables")
        collector.run("collect", "passages", "--for", "30s")
        proxy.choose = lambda _method, _path: None
        collector.run("sync")
        for step in ("stage", "build", "publish"):
            builder.run(step)
        collector.run("stage")
        yield Shared(collector, builder, sum(proxy.n_faults.values()))


def lake_of(host: Journey) -> dict[str, bytes]:
    root = Path(host.settings["TRANSIT_DATA_DIR"])
    files = (*all_lake_files(root, "emulated"), *quarantine_files(root, "emulated"))
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


def test_the_store_failed_on_the_way(shared: Shared) -> None:
    assert shared.n_faults


def test_both_hosts_have_the_same_lake(shared: Shared) -> None:
    assert lake_of(shared.collector) == lake_of(shared.builder)
    assert lake_of(shared.builder)


def test_every_answer_of_the_upstream_is_once_in_what_the_other_host_published(shared: Shared) -> None:
    answered = Counter(answer["path"].split("/")[3] for answer in shared.builder.answers())
    rows = shared.builder.sql(
        "select endpoint, sum(attempts)::int as n, count(*) - count(distinct request_id) as n_twice "
        "from core.requests where http_status is not null group by all"
    )

    assert {0} == {row["n_twice"] for row in rows}
    assert sum(answered.values()) == sum(row["n"] for row in rows)


def test_nothing_waits_at_the_end(shared: Shared) -> None:
    store = shared.collector.run("status")["store"]

    assert (0, 0) == (store["n_raw_files"], store["n_days"])


def test_the_builder_has_no_raw_file_that_the_collector_staged(shared: Shared) -> None:
    roots = [Path(host.settings["TRANSIT_DATA_DIR"]) for host in (shared.collector, shared.builder)]
    collected, fetched = ({path.name for path in raw_files(root)} for root in roots)

    assert collected > fetched
    assert any("-passages-" in name for name in fetched)
