"""Kills the collector with -9 repeatedly, and checks that nothing received is lost or counted twice.

    python benchmarks/crash.py [--kills 20] [--seed 1]

An emulator logs the hash of every body that it has sent completely. A collector polls it in short windows, so
that a kill may hit it while it starts, recovers, polls or finalises. Afterwards every body must be in raw and
in the lake exactly once, except those in flight at a kill: the ledger must have them as `interrupted`, and
there must not be more of them than requests can be in flight.
"""

import argparse
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from rich.console import Console
from rich.table import Table

from transit_emulator.process import free_port, server_process
from transit_etl.collect import collect
from transit_etl.collect.collector import MAX_IN_FLIGHT
from transit_etl.collect.raw.rawfile import read_lines
from transit_etl.collect.raw.recovery import recover
from transit_etl.paths import intents_files, lake_glob, open_raw_files, quarantine_dir, raw_files
from transit_etl.settings import Settings
from transit_etl.stage import stage

RATE_PER_MINUTE = 2400
TOKEN = "crash-token"  # noqa: S105 - a made-up token
EMULATOR = """
import sys
from pathlib import Path
from transit_emulator.app import create_app
from transit_emulator.server import serve
from transit_emulator.world import build_world
port, log, token, limit = sys.argv[1:]
app = create_app(build_world("small"), tokens=[token], limit_with_token=int(limit), log=Path(log))
serve(app, port=int(port))
"""
COLLECTOR = """
from transit_etl.collect import collect
from transit_etl.settings import load_settings
while True:
    collect(load_settings(), "passages", seconds=1.5)
"""


@dataclass(frozen=True)
class Kill:
    """A killed collector: how long it ran, and the bodies that the emulator sent completely meanwhile."""

    lived_seconds: float
    served: Counter[str]


@dataclass(frozen=True)
class Verdict:
    """Where the bodies sent between two kills are: landed, interrupted, or neither."""

    n_served: int
    n_landed: int
    n_interrupted: int
    n_unexplained: int


def main() -> int:
    """Run the kills and print the results; 1 if anything was lost, duplicated or unexplained."""
    arguments = _arguments()
    console = Console()
    with tempfile.TemporaryDirectory(prefix="crash-") as scratch:
        folder = Path(scratch)
        log = folder / "served.jsonl"
        port = free_port()
        command = [sys.executable, "-c", EMULATOR, str(port), str(log), TOKEN, str(RATE_PER_MINUTE)]
        with server_process(command, port) as server:
            settings = _settings(folder / "data", server.base_url)
            _learn_network(settings)
            kills = [_kill_one(settings, log, moment) for moment in _moments(arguments.kills, arguments.seed)]
        recover(settings.data_dir)
        staged = stage(settings)
        problems = [*staged.errors, *_raw_problems(settings), *_lake_problems(settings)]
        verdicts = _verdicts(kills, settings)
    problems += [
        f"kill {n}: {v.n_unexplained} bodies lost" for n, v in enumerate(verdicts, 1) if v.n_unexplained
    ]
    problems += [
        f"kill {n}: {v.n_interrupted} in flight"
        for n, v in enumerate(verdicts, 1)
        if v.n_interrupted > MAX_IN_FLIGHT
    ]
    _show(console, kills, verdicts, problems)
    return 1 if problems else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _settings(data_dir: Path, base_url: str) -> Settings:
    return Settings(
        data_dir=data_dir,
        base_url=base_url,
        token=TOKEN,
        limiter_url=f"sqlite:///{data_dir.absolute()}/state/budget.sqlite",
        rate_per_minute=RATE_PER_MINUTE,
    )


def _moments(n_kills: int, seed: int) -> list[float]:
    """Return how long each collector runs: from its start to its third window or later."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    return [chance.uniform(0.3, 8.0) for _ in range(n_kills)]


def _learn_network(settings: Settings) -> None:
    for dataset in ("lines", "stops"):
        collect(settings, dataset)
        stage(settings)


def _kill_one(settings: Settings, log: Path, lifetime: float) -> Kill:
    """Run a collector for a time, kill it, and return what it was sent."""
    before = log.stat().st_size
    environment = {
        **os.environ,
        "TRANSIT_BASE_URL": settings.base_url,
        "TRANSIT_DATA_DIR": str(settings.data_dir),
        "TRANSIT_TOKEN": TOKEN,
        "TRANSIT_RATE_PER_MINUTE": str(RATE_PER_MINUTE),
    }
    started = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", COLLECTOR], env=environment) as collector:  # noqa: S603
        time.sleep(lifetime)
        if collector.poll() is not None:
            raise RuntimeError(f"the collector ended by itself with {collector.returncode}")
        collector.send_signal(signal.SIGKILL)
    lived = time.monotonic() - started
    time.sleep(0.5)  # the emulator still completes the answers to the killed collector
    with log.open("rb") as file:
        file.seek(before)
        return Kill(lived, Counter(_served(line) for line in file))


def _served(line: bytes) -> str:
    entry = json.loads(line)
    return f"{entry['path'].rsplit('/', 1)[-1]} {entry['sha256']}"


def _raw_rows(settings: Settings) -> list[dict[str, Any]]:
    files = sorted(raw_files(settings.data_dir, endpoint="passages"))
    return [json.loads(line) for file in files for line in read_lines(file)]


def _landed(row: dict[str, Any]) -> str:
    return f"{row['key']} {hashlib.sha256(row['body'].encode()).hexdigest()}"


def _verdicts(kills: list[Kill], settings: Settings) -> list[Verdict]:
    """Compare what was sent before each kill with raw; a missing body must be marked as interrupted."""
    rows = _raw_rows(settings)
    landed = Counter(_landed(row) for row in rows if row["body"] is not None)
    interrupted = Counter(row["key"] for row in rows if row["outcome"] == "interrupted")
    verdicts = []
    for kill in kills:
        missing = kill.served - landed
        in_flight = Counter(entry.split(" ")[0] for entry in missing.elements())
        unexplained = in_flight - interrupted
        interrupted -= in_flight
        verdicts.append(
            Verdict(
                kill.served.total(), (kill.served & landed).total(), in_flight.total(), unexplained.total()
            )
        )
    surplus = landed - sum((kill.served for kill in kills), Counter())
    if surplus:
        raise AssertionError(f"{surplus.total()} bodies are in raw more often than they were served")
    return verdicts


def _raw_problems(settings: Settings) -> Iterator[str]:
    counts = Counter(row["request_id"] for row in _raw_rows(settings))
    yield from (f"raw holds {name} {n} times" for name, n in counts.items() if n > 1)
    left = [*open_raw_files(settings.data_dir), *intents_files(settings.data_dir)]
    yield from (f"left over: {path.name}" for path in left)


def _lake_problems(settings: Settings) -> Iterator[str]:
    """Compare the lake with raw, request by request and row by row."""
    expected = {row["request_id"]: _n_listed(row) for row in _raw_rows(settings)}
    requests = _lake_counts(settings, "requests")
    yield from (f"the lake holds request {name} {n} times" for name, n in requests.items() if n != 1)
    yield from (f"the lake lacks request {name}" for name in expected.keys() - requests.keys())
    rows, quarantined = _lake_counts(settings, "passages"), _quarantined(settings)
    for name, n_listed in expected.items():
        found = rows[name] + quarantined[name]
        if found != n_listed:
            yield f"the lake holds {found} of {n_listed} rows of {name}"


def _n_listed(row: dict[str, Any]) -> int:
    return len(json.loads(row["body"])["passaggi"]) if row["outcome"] == "ok" else 0


def _lake_counts(settings: Settings, dataset: str) -> Counter[str]:
    condition = "where endpoint = 'passages'" if dataset == "requests" else ""
    return _counts(
        f"select request_id, count(*) from read_parquet('{lake_glob(settings.data_dir, dataset)}', "
        f"hive_partitioning = false) {condition} group by request_id"
    )


def _quarantined(settings: Settings) -> Counter[str]:
    folder, files = quarantine_dir(settings.data_dir), "operator=*/dataset=passages/date=*/*.parquet"
    if not any(folder.glob(files)):
        return Counter()
    return _counts(
        f"select request_id, count(distinct row) from read_parquet('{folder / files}', "
        "hive_partitioning = false) group by request_id"
    )


def _counts(sql: str) -> Counter[str]:
    with duckdb.connect() as connection:
        return Counter(dict(connection.execute(sql).fetchall()))


def _show(console: Console, kills: list[Kill], verdicts: list[Verdict], problems: list[str]) -> None:
    table = Table("kill", "lived (s)", "bodies sent", "landed", "in flight", "lost", title="kill -9")
    for number, (kill, found) in enumerate(zip(kills, verdicts, strict=True), 1):
        figures = (found.n_served, found.n_landed, found.n_interrupted, found.n_unexplained)
        table.add_row(str(number), f"{kill.lived_seconds:.2f}", *map(str, figures))
    console.print(table)
    n_served, n_landed = sum(v.n_served for v in verdicts), sum(v.n_landed for v in verdicts)
    console.print(f"{n_served} bodies sent completely, {n_landed} in raw and in the lake exactly once")
    for problem in problems[:20]:
        console.print(problem, style="red", markup=False)


if __name__ == "__main__":
    sys.exit(main())
