"""Two schedulers and two workers of Celery that are killed keep the allowance and lose nothing.

The workers share one data folder, or they are on two hosts, each with a folder of its own, that share the
lake through an object store: of that one request in twenty is spoilt, then it is away for half of the time,
then it is slow and tears transfers. At the end everything is killed, and the database of Airflow is brought
back to a dump. The variable DRILL_MINUTES says how long they collect; `--log-cli-level=INFO` shows what is
measured.
"""

import json
import logging
import os
import signal
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from random import Random
from secrets import token_urlsafe
from typing import Any

import duckdb
import httpx2
import psutil
import psycopg
import pytest

from tests.collect.helpers import body_of
from tests.collect.postgresql import PostgreSql, running_postgresql
from tests.deploy.airflow import LONGEST_SECONDS, PASSWORDS, Airflow, replacements
from tests.deploy.redis_server import RedisServer, running_redis
from tests.deploy.units import WORKERS, Machine
from tests.store.server import Fault, Proxy, proxied, served
from transit_emulator.app import DEFAULT_TOKEN
from transit_emulator.process import emulator_process, free_port
from transit_etl.collect.raw.rawfile import read_lines
from transit_etl.paths import intents_files, lake_files, open_raw_files, raw_files
from transit_etl.settings import Settings
from transit_etl.store.machine import machine_id
from transit_etl.store.raw import unsent_raw
from transit_etl.warehouse import query

MINUTES = float(os.environ.get("DRILL_MINUTES", "4"))
RATE = 120  # of the 300 that the emulator allows with a token, so that it is not what keeps the allowance
WINDOW_SECONDS = 60  # of the allowance, and of what one run polls
LONGEST_REQUEST = timedelta(seconds=75)
BEGIN = datetime(2026, 11, 18, 7, tzinfo=UTC)  # a Wednesday, eight o'clock local time, when the drill begins
COLLECTING = ("passages", "status", "network", "timetables", "news")
# Each with its unit, and whether it is on the other host where there are two.
PARTS = {
    "api-server": ("transit-etl-api-server", False),
    "dag-processor": ("transit-etl-dag-processor", False),
    "triggerer": ("transit-etl-triggerer", False),
    "scheduler-1": ("transit-etl-scheduler", False),
    "scheduler-2": ("transit-etl-scheduler", True),
    "worker-1": ("transit-etl-worker@1", False),
    "worker-2": ("transit-etl-worker@2", True),
}
BUCKET = "transit"
LAKE_URL = f"s3://{BUCKET}/lake"
_log = logging.getLogger(__name__)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Hosts:
    """What runs in the drill, what the upstream answered, and when processes that collect were killed.

    The first of `machines` has the warehouse, and `settings` are its. `store` stands before the object store,
    if they share one.
    """

    airflow: Airflow
    machines: list[Machine]
    database: PostgreSql
    redis: RedisServer
    settings: Settings
    answers_file: Path
    store: Proxy | None
    killed_at: list[datetime] = field(default_factory=list)

    @property
    def data_dirs(self) -> list[Path]:
        """Return the data folder of each host."""
        return [_data_dir(machine) for machine in self.machines]

    def set_up(self) -> None:
        """Bring the database of Airflow up to date."""
        self.machines[0].run("transit-etl-setup")

    def prune(self) -> None:
        """Remove what the last host keeps for a time only."""
        self.machines[-1].run("transit-etl-prune")

    def answers(self) -> list[Row]:
        """Return the upstream's log of its answers to the interface's addresses."""
        log = [json.loads(line) for line in self.answers_file.read_text().splitlines()]
        return [answer for answer in log if answer["path"].startswith("/api/")]

    def kill(self, part: str) -> None:
        """Kill every process of a part at once, as a loss of power does."""
        everything = set(self.airflow.running[part].processes())
        assert everything
        for process in list(everything):
            with suppress(psutil.NoSuchProcess):  # it ends by itself meanwhile
                everything |= set(process.children(recursive=True))
        for signal_number in (signal.SIGSTOP, signal.SIGKILL):
            for process in everything:
                with suppress(psutil.NoSuchProcess):
                    process.send_signal(signal_number)
        self.killed_at.append(self.settings.clock.now())

    def dump(self) -> None:
        """Dump the database of Airflow while everything runs, as the documents say."""
        self._call_postgresql("pg_dump", "--format=custom", "--file=airflow.dump", "airflow")

    def restore(self) -> None:
        """Kill everything, and bring the database of Airflow back to the dump."""
        for part in self.airflow.parts:
            self.kill(part)
        self._call_postgresql("pg_restore", "--clean", "--create", "--dbname=postgres", "airflow.dump")
        self.set_up()

    def _call_postgresql(self, program: str, *arguments: str) -> None:
        server = [f"--host={self.database.folder}", "--username=postgres"]
        self.database.call(program, *server, *arguments)

    def spoil(self, share: float, *faults: Fault) -> None:
        """Let the store, if there is one, spoil a share of the requests from now on, each in some way."""
        if self.store is None:
            return
        _log.info("requests of the store that were spoilt until now: %s", self.store.n_faults)
        chance = Random(1)  # noqa: S311 - repeats a failure
        self.store.choose = lambda *_: chance.choice(faults) if chance.random() < share else None

    def ledger(self) -> list[Row]:
        """Return the rows of the raw files of all hosts; a file that two of them have counts once."""
        files = {path.name: path for folder in self.data_dirs for path in raw_files(folder)}
        return [json.loads(line) for _, path in sorted(files.items()) for line in read_lines(path)]

    def has_recovered(self) -> bool:
        """Tell whether on each host a window has landed that began after the last kill.

        What was killed before is finished when a window begins.
        """
        since = f"{self.killed_at[-1]:%Y%m%dT%H%M%SZ}"
        return all(max(self._own_windows(folder), default="") > since for folder in self.data_dirs)

    def is_idle(self) -> bool:
        """Tell whether nothing is being landed, and no raw file waits for the store."""
        return not [
            path
            for folder in self.data_dirs
            for path in (*open_raw_files(folder), *intents_files(folder), *self._unsent(folder))
        ]

    def _own_windows(self, data_dir: Path) -> list[str]:
        """List the names of the windows that a host landed itself."""
        own = f"-{machine_id(data_dir)}-" if self.store else ""
        return [path.name for path in raw_files(data_dir) if own in path.name]

    def _unsent(self, data_dir: Path) -> list[Path]:
        if self.store is None:
            return []
        settings = self.settings.model_copy(update={"data_dir": data_dir, "lake_url": LAKE_URL})
        return unsent_raw(settings, settings.operators)


@pytest.fixture(params=["one data folder", "two hosts"])
def hosts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Hosts]:
    """Yield the parts of an installation with two workers, from the units and settings in `deploy`."""
    port, shift = free_port(), (BEGIN - datetime.now(UTC)).total_seconds()
    answers = tmp_path / "answers.jsonl"
    password = token_urlsafe(16)
    with (
        running_postgresql() as database,
        running_redis(WORKERS / "redis.conf", tmp_path / "redis", password) as redis,
        emulator_process("--log", str(answers)) as emulator,
        _shared_store() if request.param == "two hosts" else nullcontext() as store,
    ):
        with psycopg.connect(host=str(database.folder), user="postgres", autocommit=True) as connection:
            for name in ("airflow", "limiter"):
                connection.execute(f"create database {name}")
        own = {
            "TRANSIT_OPERATOR": "example",
            "TRANSIT_TOKEN": DEFAULT_TOKEN,
            "TRANSIT_RATE_PER_MINUTE": str(RATE),
            "TRANSIT_WINDOW_SECONDS": str(WINDOW_SECONDS),
            "TRANSIT_STATUS_INTERVAL_SECONDS": "15",
            "TRANSIT_TIMETABLE_DAYS_AHEAD": "0",
            "TRANSIT_CLOCK_SHIFT_SECONDS": str(shift),
            **(_settings_of_store() if store else {}),
        }
        shared = {
            "TRANSIT_TOKEN=": "\n".join(f"{name}={value}" for name, value in own.items()),
            "transit@postgresql.example.internal/": "postgres@/",
            "?passfile=": f"?host={database.folder}&passfile=",
            ":CHANGE-ME@redis.example.internal:6379": f":{password}@127.0.0.1:{redis.port}",
            "https://airflow.example.internal": f"http://localhost:{port}",
            **replacements(database, port, emulator.base_url),
        }
        first = Machine(tmp_path / "first", shared, more=WORKERS.glob("*.env"))
        machines = [first]
        if store:
            only_collects = {**shared, "WORKER_QUEUES=default,warehouse": "WORKER_QUEUES=default"}
            machines.append(Machine(tmp_path / "second", only_collects, more=WORKERS.glob("*.env")))
        place = {name: machines[-1 if is_other else 0] for name, (_, is_other) in PARTS.items()}
        (first.root / "var/airflow/passwords.json").write_text(PASSWORDS)
        airflow = Airflow(
            f"http://localhost:{port}",
            list(PARTS),
            lambda name: place[name].start(name, PARTS[name][0]),
            lambda name: place[name].stack.log(name),
        )
        settings = Settings(
            data_dir=_data_dir(first), operator="example", base_url=emulator.base_url,
            clock_shift_seconds=shift,
        )  # fmt: skip
        found = Hosts(airflow, machines, database, redis, settings, answers, store)
        found.set_up()
        try:
            yield found
        finally:
            for machine in machines:
                machine.stack.stop()


def _data_dir(machine: Machine) -> Path:
    return machine.root / "var/data"


@contextmanager
def _shared_store() -> Iterator[Proxy]:
    """Serve an object store that answers after a second where it is slow."""
    with served() as address, proxied(address) as proxy:
        httpx2.put(f"http://{address[0]}:{address[1]}/{BUCKET}").raise_for_status()
        proxy.delay_seconds = 1
        yield proxy


def _settings_of_store() -> dict[str, str]:
    """Return the address of the store, and the variables that this process finds it by."""
    found = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    return {"TRANSIT_LAKE_URL": LAKE_URL, **found, "NO_PROXY": "*"}


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(60 * MINUTES + 3 * LONGEST_SECONDS)
def test_workers_that_are_killed_lose_no_answer_and_keep_the_allowance(hosts: Hosts) -> None:
    airflow = hosts.airflow
    airflow.wait_until(airflow.is_healthy)
    airflow.wait_until(lambda: airflow.pause("check") and "running" not in airflow.states("check"))
    checked_until = hosts.settings.clock.now()
    airflow.wait_until(lambda: any("/passaggi/" in answer["path"] for answer in hosts.answers()))
    _collect(hosts)
    hosts.spoil(0)
    hosts.restore()
    airflow.wait_until(hosts.has_recovered)
    airflow.wait_until(lambda: all(airflow.pause(dag) for dag in COLLECTING))
    airflow.wait_until(hosts.is_idle)
    for dag in ("staging", *(["sync"] if hosts.store else []), "warehouse"):
        run = airflow.trigger(dag)
        airflow.wait_until(lambda dag=dag, run=run: airflow.has_succeeded(dag, run))  # type: ignore[misc]

    answers, ledger = hosts.answers(), hosts.ledger()
    _report(hosts, answers, ledger)

    assert {200} == {answer["status"] for answer in answers}
    assert _busiest(_instants(answers, "at")) <= RATE
    assert _busiest(_instants([row for row in ledger if row["sent_at"]], "sent_at")) <= RATE
    _check_nothing_is_lost(hosts, answers, ledger, checked_until)
    _check_nothing_is_twice(hosts, ledger)
    hosts.prune()


def _collect(hosts: Hosts) -> None:
    """Let the DAGs collect for the length of the drill, and disturb them meanwhile."""
    slow_and_torn = (*[Fault.DELAY] * 8, Fault.TEAR_UPLOAD, Fault.TEAR_DOWNLOAD)
    disturbances: dict[float, Callable[[], None]] = {
        0: lambda: hosts.spoil(0.05, *Fault),
        0.15: lambda: hosts.kill("worker-1"),
        0.25: lambda: hosts.spoil(1, Fault.REFUSE),
        0.3: hosts.database.restart,
        0.45: lambda: hosts.kill("scheduler-1"),
        0.6: hosts.redis.restart,
        0.75: lambda: hosts.spoil(1, *slow_and_torn),
        0.8: lambda: hosts.kill("worker-2"),
        0.9: hosts.dump,
    }
    began = time.monotonic()
    for part, disturb in disturbances.items():
        hosts.airflow.wait_until(lambda part=part: time.monotonic() > began + part * 60 * MINUTES)  # type: ignore[misc]
        disturb()
        _log.info("disturbed after %.0f s", time.monotonic() - began)
    hosts.airflow.wait_until(lambda: time.monotonic() > began + 60 * MINUTES)


def _check_nothing_is_lost(
    hosts: Hosts, answers: list[Row], ledger: list[Row], checked_until: datetime
) -> None:
    """Check that each answer of the upstream is landed, or of a request that a kill interrupted."""
    rows_of = defaultdict(list)
    for row in ledger:
        if row["sent_at"] or row["outcome"] == "interrupted":
            rows_of[row["endpoint"], row["key"]].append(row)
    for answer in answers:
        asked_at = datetime.fromisoformat(answer["now"])
        endpoint, key = _asked(answer["path"])
        found = [row for row in rows_of[endpoint, key] if _is_of(row, asked_at)]
        if not found and endpoint == "lines" and asked_at < checked_until:
            continue  # `transit-etl check` asks for it too where nothing else was answered, and lands nothing
        [row] = found
        rows_of[endpoint, key].remove(row)
        assert row["outcome"] == "interrupted" or sha256(body_of(row)).hexdigest() == answer["sha256"]

    left = [row for candidates in rows_of.values() for row in candidates]
    assert {"interrupted"} >= {row["outcome"] for row in left}  # these were killed before they were sent
    for row in (row for row in ledger if row["outcome"] == "interrupted"):
        assert any(_is_of(row, killed_at) for killed_at in hosts.killed_at)


def _is_of(row: Row, at: datetime) -> bool:
    """Tell whether a request was under way at an instant; when one was interrupted is not known."""
    planned_at = datetime.fromisoformat(row["planned_at"]) - timedelta(milliseconds=1)
    ended_at = row["received_at"] and datetime.fromisoformat(row["received_at"])
    return planned_at <= at <= (ended_at or planned_at + LONGEST_REQUEST)


def _check_nothing_is_twice(hosts: Hosts, ledger: list[Row]) -> None:
    """Check that raw files, lake and published file hold the same requests, each once."""
    ids = Counter(row["request_id"] for row in ledger)
    files = [str(path) for path in lake_files(hosts.settings.data_dir, "requests")]
    with duckdb.connect() as connection:
        found = connection.read_parquet(files).project("request_id").fetchall()
    published = query(hosts.settings, "select request_id from core.requests").to_pylist()

    assert {1} == set(ids.values())
    assert ids == Counter(request_id for (request_id,) in found)
    assert ids == Counter(row["request_id"] for row in published)


def _report(hosts: Hosts, answers: list[Row], ledger: list[Row]) -> None:
    """Log what was measured."""
    at = _instants(answers, "at")
    gaps = sorted((after - before for before, after in pairwise(at)), reverse=True)
    _log.info("%d answers in %.0f s, busiest minute %d", len(at), at[-1] - at[0], _busiest(at))
    _log.info("longest times without an answer: %s s", [round(gap, 1) for gap in gaps[:8]])
    _log.info("outcomes: %s", Counter(row["outcome"] for row in ledger))
    for dag in (*COLLECTING, "staging", "warehouse"):
        _log.info("%s: %s", dag, Counter(hosts.airflow.states(dag)))


def _asked(path: str) -> tuple[str, str]:
    """Return the endpoint and the key of an address of the interface."""
    words = path.removeprefix("/api/v1/").split("/")
    endpoint = {
        "linee": "lines",
        "fermate": "stops",
        "orari": "timetables",
        "passaggi": "passages",
        "stato_servizio": "status",
        "news": "news_details" if len(words) > 1 else "news",
    }[words[0]]
    return endpoint, "/".join(word for word in words[1:] if word != "categoria")


def _instants(found: Iterable[Row], name: str) -> list[float]:
    return sorted(datetime.fromisoformat(row[name]).timestamp() for row in found)


def _busiest(times: list[float]) -> int:
    """Return the largest number of instants within 60 seconds."""
    return max(bisect_left(times, at + WINDOW_SECONDS) - place for place, at in enumerate(times))
