"""Runs groups of DAGs in parallel, each group in a process of its own, and prints the result of each DAG."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console

from scripts.demo_progress import waiting
from scripts.local_airflow import CHECKOUT

LAST_LINES = 25
_TASK_STARTS = re.compile(r"^(\S+) .*\[DAG TEST\] running task <TaskInstance: (\S+) ", re.MULTILINE)


class DagFailedError(Exception):
    """A DAG failed; the message has its name and the end of its log."""


class Runs:
    """DAG runs in one Airflow, with their logs in one folder."""

    def __init__(self, folder: Path, environment: Mapping[str, str], console: Console) -> None:
        self._folder = folder
        self._environment = environment
        self._console = console
        self._results = folder / "runs.jsonl"
        self._n_printed = 0

    def run(self, *groups: Sequence[str]) -> None:
        """Run groups in parallel, the DAGs of a group in order; raise DagFailedError once all have ended."""
        started = {"_".join(group): self._start(group) for group in groups}
        try:
            self._watch(started)
        finally:
            for process in started.values():
                process.terminate()  # has no effect on a process that has ended
                process.wait(30)
        for name, process in started.items():
            if process.returncode != 0:
                raise DagFailedError(self._message(name))

    def _start(self, group: Sequence[str]) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "scripts.run_dags", *group, "--results", str(self._results)]
        with self._log("_".join(group)).open("wb") as log:
            return subprocess.Popen(
                command, cwd=CHECKOUT, env=dict(self._environment), stdout=log, stderr=subprocess.STDOUT
            )

    def _watch(self, started: Mapping[str, subprocess.Popen[bytes]]) -> None:
        n_answers_before = self._n_answers()
        with waiting(self._console, "Airflow runs DAGs") as update:
            while running := [name for name, process in started.items() if process.poll() is None]:
                n_answers = self._n_answers()
                tasks = ", ".join(task_under_way(self._log(name)) for name in running)
                live = f"; {n_answers:,} live requests answered" if n_answers > n_answers_before else ""
                update(f"Airflow runs {tasks}{live}")
                self._print_ended()
                time.sleep(0.5)
            self._print_ended()

    def _print_ended(self) -> None:
        """Print a line for each DAG that has ended since the last call."""
        lines = self._results.read_text().splitlines() if self._results.exists() else []
        for line in lines[self._n_printed :]:
            result = json.loads(line)
            mark = "[green]✓[/]" if result["state"] == "success" else "[red]✗[/]"
            steps = " → ".join(
                f"[{'green' if state == 'success' else 'red'}]{task}[/]"
                for task, state in result["tasks"].items()
            )
            self._console.print(
                f"{mark} {result['dag']:<11} {result['seconds']:>5} s  {steps}", highlight=False
            )
        self._n_printed = len(lines)

    def _n_answers(self) -> int:
        answers = self._folder / "answers.jsonl"
        return answers.read_bytes().count(b"\n") if answers.exists() else 0

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def _message(self, name: str) -> str:
        end = self._log(name).read_text(errors="replace").splitlines()[-LAST_LINES:]
        return "\n".join([f"{name} failed; its log {self._log(name)} ends:", *end])


def task_under_way(log: Path) -> str:
    """Say which task runs by the log of a group of DAGs, and how many seconds; at first which DAGs start."""
    starts = _TASK_STARTS.findall(log.read_text(errors="replace"))
    if not starts:
        return log.stem.replace("_", ", ")
    at, task = starts[-1]
    return f"{task} ({(datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds():.0f} s)"
