"""Lives through weeks of virtual days with faults, kills and clock changes, and checks that nothing grows.

    python benchmarks/soak.py [--size small] [--days 84] [--rate 12] [--every-night] [--folder FOLDER]

Each day one long-lived process asks for the lists, polls two windows, stages and compacts them. On Sunday
night (every night with --every-night) each step is a process of its own, as under Airflow: build, publish,
compact, verify. Of each week, Tuesday has an upstream with faults, on Thursday the process is killed in a
window, on Saturday the machine's clock is set by minutes to days, and on Sunday each step is killed and
started again.

The collectors of a day have nothing to learn from the day before: its last window is longer than an hour ago.
So a life without disturbances must have the same rows on all days that have none.

Fails if memory, handles or state grow, if what grows with the data grows faster than it, if the tables differ
from those of one clean build from the same raw files, or an undisturbed date from that of the other life.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import soak_comparison
from transit_emulator.faults.definitions import Fault, FaultKind
from transit_emulator.world import NETWORK_NAMES
from transit_etl import paths
from transit_etl.settings import Settings

Json = dict[str, Any]
FIRST = date(2026, 2, 2)  # a Monday; clocks change on the Sunday of the eighth week
WINDOW_SECONDS, STATUS_SECONDS = 600, 120
WINDOWS_AT = (7, 17)  # local time
FAULT_DAY, KILL_DAY, CLOCK_DAY, STEP_KILL_DAY = 1, 3, 5, 6
CLOCK_CHANGES = [timedelta(minutes=20), -timedelta(hours=1), timedelta(days=2), -timedelta(days=1)]
CLOCK_CHANGES += [timedelta(hours=1), timedelta(days=3), -timedelta(minutes=5)]
WITH_A_REAL_WAIT = {FaultKind.SLOW, FaultKind.SLOW_BODY, FaultKind.HUGE}
FAULT_SHARES = dict.fromkeys(set(FaultKind) - WITH_A_REAL_WAIT, 0.02) | {
    FaultKind.SERVER_ERROR: 0.05,
    FaultKind.RATE_LIMITED: 0.002,
}
LONGEST_STEP_SECONDS = {"build": 30.0, "publish": 4.0, "compact": 4.0, "verify": 4.0}  # before a kill


def main() -> int:
    """Live twice, with disturbances and without, build once more from raw, and compare."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="soak-") as scratch:
        folder = options.folder or Path(scratch)
        disturbed, calm = (
            Life(options, folder / name, is_disturbed=name == "disturbed") for name in ("disturbed", "calm")
        )
        with ThreadPoolExecutor() as pool:
            for lived in [pool.submit(life.live) for life in (disturbed, calm)]:
                lived.result()
        clean = _built_from_raw(disturbed, folder / "clean")
        problems = soak_comparison.compare(
            {name: paths.build_database(folder / name) for name in ("disturbed", "calm")},
            paths.build_database(clean.data_dir),
            sorted(set(disturbed.days) - disturbed.disturbed_dates),
            options.size,
        )
        for life in (disturbed, calm):
            print(f"\n{life.data_dir.name}: {len(life.samples)} days, {life.n_kills} kills")
            problems += soak_comparison.judge(life.samples)
    print("\n".join(problems) or "passed")
    return 1 if problems else 0


@dataclass
class Life:
    """An installation, day after day; `samples` has what it used at the end of each."""

    options: argparse.Namespace
    data_dir: Path
    is_disturbed: bool
    samples: list[Json] = field(default_factory=list)
    disturbed_dates: set[date] = field(default_factory=set)
    used: Json = field(default_factory=dict)
    n_kills: int = 0

    def __post_init__(self) -> None:
        """Make the data folder and its settings."""
        self.settings = Settings(
            data_dir=self.data_dir,
            limiter_url=f"sqlite:///{self.data_dir.absolute()}/state/budget.sqlite",
            rate_per_minute=self.options.rate,
            window_seconds=WINDOW_SECONDS,
            timetable_days_ahead=0,
        )
        self.chance = random.Random(self.options.seed)  # noqa: S311 - not a secret
        self.data_dir.mkdir(parents=True)

    @property
    def days(self) -> list[date]:
        """The days lived through."""
        return [FIRST + timedelta(days=number) for number in range(self.options.days)]

    def live(self) -> None:
        """Live through the days, and build what was not built yet."""
        worker = self.worker()
        for day in self.days:
            self.used = {}
            for task in self._tasks(day):
                worker = self.do(worker, task)
            if self._is_build_night(day):
                self._night(day)
            self.samples.append({**self.used, **_sizes(self.data_dir)})
            with self.data_dir.with_suffix(".jsonl").open("a") as file:
                file.write(json.dumps({"date": day.isoformat(), **self.samples[-1]}) + "\n")
        worker.communicate()
        self.step("build")

    def _is_build_night(self, day: date) -> bool:
        return self.is_disturbed and (self.options.every_night or day.weekday() == STEP_KILL_DAY)

    def _tasks(self, day: date) -> Iterator[Json]:
        """Yield what the long-lived process does on a day."""
        yield self._task("lines", day, "04:30")
        yield {"stage": "lines"}
        yield self._task("stops", day, "04:31")
        yield {"stage": "stops"}
        yield self._task("timetables", day, "05:00")
        yield self._task("news", day, "05:30")
        for number, hour in enumerate(WINDOWS_AT):
            polled = self._task("passages", day, f"{hour:02}:00", WINDOW_SECONDS)
            yield polled | {"disturbance": self._disturbance(day, number, polled["at"])}
            yield self._task("status", day, f"{hour:02}:20", STATUS_SECONDS)
            yield {"stage": "polled"}
        if not self._is_build_night(day):
            yield {"compact": day.isoformat()}

    def _task(self, dataset: str, day: date, at: str, seconds: float | None = None) -> Json:
        return {"dataset": dataset, "at": self._instant(day, at).isoformat(), "seconds": seconds}

    def _instant(self, day: date, local_time: str) -> datetime:
        local = datetime.fromisoformat(f"{day}T{local_time}").replace(tzinfo=self.settings.zone)
        return local.astimezone(UTC)

    def _disturbance(self, day: date, number: int, at: str) -> Json:
        """Return what happens in a window of a day, and remember which dates it disturbs."""
        kind = day.weekday() if self.is_disturbed else None
        if kind in {FAULT_DAY, KILL_DAY, CLOCK_DAY}:
            self.disturbed_dates.add(day)
        if kind == KILL_DAY and number == 0:
            return {"at_request": self.chance.randint(2, self.options.rate * 8)}
        if kind != CLOCK_DAY or number == 0:
            return {}
        change = CLOCK_CHANGES[(day - FIRST).days // 7 % len(CLOCK_CHANGES)]
        self.disturbed_dates.add((datetime.fromisoformat(at) + change).date())
        return {"at_request": self.options.rate * 3, "set_by_seconds": change.total_seconds()}

    def do(self, worker: "subprocess.Popen[str]", task: Json) -> "subprocess.Popen[str]":
        """Have a task done; a process that was killed is started again, for the rest of its window."""
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps(task) + "\n")
        worker.stdin.flush()
        if reply := worker.stdout.readline():
            self.used = json.loads(reply)
            return worker
        killed_at = task.get("disturbance", {}).get("at_request")
        if worker.wait() != -signal.SIGKILL or not killed_at:
            raise RuntimeError(f"the worker ended with {worker.returncode} at {task}")
        self.n_kills += 1
        passed = 60 * killed_at / self.options.rate + 5
        at = datetime.fromisoformat(task["at"]) + timedelta(seconds=passed)
        rest = {"dataset": "passages", "at": at.isoformat(), "seconds": max(10, WINDOW_SECONDS - passed)}
        return self.do(self.worker(), rest)

    def worker(self) -> "subprocess.Popen[str]":
        """Start the long-lived process."""
        worker = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.soak_worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
            cwd=Path(__file__).parent.parent,
        )  # fmt: skip
        assert worker.stdin is not None
        settings = self.settings.model_dump(mode="json", exclude_none=True)
        faults = [fault.model_dump(mode="json", by_alias=True) for fault in self._faults()]
        first = {"settings": settings, "size": self.options.size, "faults": faults}
        worker.stdin.write(json.dumps(first) + "\n")
        return worker

    def _faults(self) -> Iterator[Fault]:
        for day in self.days:
            if self.is_disturbed and day.weekday() == FAULT_DAY:
                span = {
                    "from": self._instant(day, "00:00"),
                    "to": self._instant(day + timedelta(days=1), "00:00"),
                }
                for kind, share in FAULT_SHARES.items():
                    yield Fault.model_validate({"kind": kind, "share": share, **span})

    def _night(self, day: date) -> None:
        """Run the steps of the night, each in a process of its own; on some nights each is killed first."""
        for words in (["build"], ["publish"], ["compact", day.isoformat()], ["verify"]):
            if day.weekday() == STEP_KILL_DAY:
                self.step(*words, lifetime=self.chance.uniform(0.5, LONGEST_STEP_SECONDS[words[0]]))
            self.used |= self.step(*words)

    def step(self, *words: str, lifetime: float | None = None) -> Json:
        """Run a command; return its processor time and its memory, or that of a process it starts."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TRANSIT_")}
        environment |= {"TRANSIT_DATA_DIR": str(self.data_dir)}
        log = self.data_dir.with_suffix(".log")
        with log.open("a") as output:
            process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", "transit_etl.cli", *words],
                env=environment, stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip
            if lifetime is not None:
                time.sleep(lifetime)
                os.killpg(process.pid, signal.SIGKILL)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.n_kills += process.returncode == -signal.SIGKILL
        if process.returncode and lifetime is None:
            raise RuntimeError(f"{words} failed; see {log}")
        seconds, memory = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        return {f"{words[0]}_seconds": seconds, f"{words[0]}_memory": memory}


def _sizes(data_dir: Path) -> Json:
    """Count the files below a data folder by kind, and the bytes of those that matter."""
    files = [path for path in data_dir.rglob("*") if path.is_file()]
    found: Json = {}
    for kind in ("raw", "lake", "quarantine", "reports", "state"):
        below = [path.stat().st_size for path in files if path.is_relative_to(data_dir / kind)]
        found |= {f"{kind}_files": len(below), f"{kind}_bytes": sum(below)}
    endings = (".new", ".part", ".damaged", ".tmp", ".wal")
    found["temporary_files"] = sum(path.name.endswith(endings) or ".restage" in path.parts for path in files)
    for name, path in {
        "limiter": data_dir / "state" / "budget.sqlite", "warehouse": paths.build_database(data_dir),
        "published": paths.published_database(data_dir), "checksums": paths.checksum_list(data_dir),
    }.items():  # fmt: skip
        found[f"{name}_bytes"] = path.stat().st_size if path.exists() else 0
    return found


def _built_from_raw(life: Life, data_dir: Path) -> Life:
    """Return an installation that staged and built the raw files of another one at once."""
    clean = Life(life.options, data_dir, is_disturbed=False)
    shutil.copytree(paths.raw_dir(life.data_dir), paths.raw_dir(data_dir), copy_function=os.link)
    worker = clean.do(clean.worker(), {"stage": "all"})
    worker.communicate()
    clean.step("build")
    return clean


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=NETWORK_NAMES, default="small")
    parser.add_argument("--days", type=int, default=84)
    parser.add_argument("--rate", type=int, default=12, help="requests a minute")
    parser.add_argument("--every-night", action="store_true", help="build every night")
    parser.add_argument("--seed", type=int, default=1, help="of the moments of kills")
    parser.add_argument("--folder", type=Path, help="a folder that is made and kept")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
