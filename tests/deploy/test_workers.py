"""Two schedulers and two workers of Celery that are killed keep the allowance and lose nothing.

The variable DRILL_MINUTES says how long they collect; `--log-cli-level=INFO` shows what is measured.
"""

import json
import logging
import os
import signal
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import duckdb
import psycopg
import pytest

from tests.collect.helpers import body_of, rows
from tests.collect.postgresql import PostgreSql, running_postgresql
from tests.deploy.airflow import LONGEST_SECONDS, PASSWORDS, Airflow, replacements
from tests.deploy.redis_server import RedisServer, running_redis
from tests.deploy.units import WORKERS, Machine
from transit_emulator.app import DEFAULT_TOKEN
from transit_emulator.process import emulator_process, free_port
from transit_etl.paths import intents_files, lake_files, open_raw_files, raw_files
from transit_etl.settings import Settings
from transit_etl.warehouse import query

MINUTES = float(os.environ.get("DRILL_MINUTES", "4"))
RATE = 120  # of the 300 that the emulator allows with a token, so that it is not what keeps the allowance
WINDOW_SECONDS = 60  # of the allowance, and of what one run polls
LONGEST_REQUEST = timedelta(seconds=75)
BEGIN = datetime(2026, 11, 18, 7, tzinfo=UTC)  # a Wednesday, eight o'clock local time, when the drill begins
COLLECTING = ("passages", "status", "network", "timetables", "news")
UNITS_OF = {
    "api-server": "transit-etl-api-server",
    "dag-processor": "transit-etl-dag-processor",
    "scheduler-1": "transit-etl-scheduler",
    "scheduler-2": "transit-etl-scheduler",
    "worker-1": "transit-etl-worker@1",
    "worker-2": "transit-etl-worker@2",
}
_log = logging.getLogger(__name__)
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Hosts:
    """What runs in the drill, what the upstream answered, and when processes that collect were killed."""

    airflow: Airflow
    database: PostgreSql
    redis: RedisServer
    settings: Settings
    answers_file: Path
    killed_at: list[datetime] = field(default_factory=list)

    def answers(self) -> list[Row]:
        """Return the upstream's log of its answers to the interface's addresses."""
        log = [json.loads(line) for line in self.answers_file.read_text().splitlines()]
        return [answer for answer in log if answer["path"].startswith("/api/")]

    def kill(self, part: str) -> None:
        """Kill every process of a part at once, as a loss of power does."""
        processes = self.airflow.running[part].processes()
        everything = {*processes, *(child for each in processes for child in each.children(recursive=True))}
        assert everything
        for process in everything:
            process.suspend()
        for process in everything:
            process.send_signal(signal.SIGKILL)
        self.killed_at.append(self.settings.clock.now())

    def has_recovered(self) -> bool:
        """Tell whether a window that began after the last kill has landed, so that all before it have."""
        names = [path.name for path in raw_files(self.settings.data_dir)]
        return max(names, default="") > f"{self.killed_at[-1]:%Y%m%dT%H%M%SZ}"

    def is_idle(self) -> bool:
        """Tell whether nothing is being landed."""
        data_dir = self.settings.data_dir
        return not [*open_raw_files(data_dir), *intents_files(data_dir)]


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[Hosts]:
    """Yield the parts of an installation with two workers, from the units and settings in `deploy`."""
    port, shift = free_port(), (BEGIN - datetime.now(UTC)).total_seconds()
    answers = tmp_path / "answers.jsonl"
    password = token_urlsafe(16)
    with (
        running_postgresql() as database,
        running_redis(WORKERS / "redis.conf", tmp_path / "redis", password) as redis,
        emulator_process("--log", str(answers)) as emulator,
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
        }
        machine = Machine(
            tmp_path,
            {
                "TRANSIT_TOKEN=": "\n".join(f"{name}={value}" for name, value in own.items()),
                "transit@postgresql.example.internal/": "postgres@/",
                "?passfile=": f"?host={database.folder}&passfile=",
                ":CHANGE-ME@redis.example.internal:6379": f":{password}@127.0.0.1:{redis.port}",
                "https://airflow.example.internal": f"http://localhost:{port}",
                **replacements(database, port, emulator.base_url),
            },
            more=WORKERS.glob("*.env"),
        )
        (tmp_path / "var/airflow/passwords.json").write_text(PASSWORDS)
        airflow = Airflow(
            f"http://localhost:{port}",
            list(UNITS_OF),
            lambda name: machine.start(name, UNITS_OF[name]),
            machine.stack.log,
        )
        settings = Settings(
            data_dir=tmp_path / "var/data", operator="example", base_url=emulator.base_url,
            clock_shift_seconds=shift,
        )  # fmt: skip
        machine.run("transit-etl-setup")
        try:
            yield Hosts(airflow, database, redis, settings, answers)
        finally:
            machine.stack.stop()


@pytest.mark.long
@pytest.mark.whole_command
@pytest.mark.exhaustive
@pytest.mark.timeout(60 * MINUTES + 3 * LONGEST_SECONDS)
def test_workers_that_are_killed_lose_no_answer_and_keep_the_allowance(hosts: Hosts) -> None:
    airflow = hosts.airflow
    airflow.wait_until(airflow.is_healthy)
    airflow.wait_until(lambda: airflow.pause("check") and "running" not in airflow.states("check"))
    checked_until = hosts.settings.clock.now()
    airflow.wait_until(lambda: any("/passaggi/" in answer["path"] for answer in hosts.answers()))
    _collect(hosts)
    airflow.wait_until(hosts.has_recovered)
    airflow.wait_until(lambda: all(airflow.pause(dag) for dag in COLLECTING))
    airflow.wait_until(hosts.is_idle)
    for dag in ("staging", "warehouse"):
        run = airflow.trigger(dag)
        airflow.wait_until(lambda dag=dag, run=run: airflow.has_succeeded(dag, run))  # type: ignore[misc]

    answers, ledger = hosts.answers(), rows(hosts.settings.data_dir)
    _report(hosts, answers, ledger)

    assert {200} == {answer["status"] for answer in answers}
    assert _busiest(_instants(answers, "at")) <= RATE
    assert _busiest(_instants([row for row in ledger if row["sent_at"]], "sent_at")) <= RATE
    _check_nothing_is_lost(hosts, answers, ledger, checked_until)
    _check_nothing_is_twice(hosts, ledger)


def _collect(hosts: Hosts) -> None:
    """Let the DAGs collect for the length of the drill, and disturb them meanwhile."""
    disturbances: dict[float, Callable[[], None]] = {
        0.15: lambda: hosts.kill("worker-1"),
        0.3: hosts.database.restart,
        0.45: lambda: hosts.kill("scheduler-1"),
        0.6: hosts.redis.restart,
        0.75: lambda: hosts.kill("worker-2"),
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
        if not found and endpoint == "status" and asked_at < checked_until:
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
