"""Runs DAGs once each in this process, without retries; like `airflow dags test` for several DAGs."""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from airflow.dag_processing.dagbag import DagBag
from airflow.sdk import conf


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the DAGs named, append one JSON line for each to a file, and fail if any of them failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dags", nargs="+", metavar="DAG")
    parser.add_argument("--results", type=Path, required=True, metavar="FILE")
    parser.add_argument("--logical-date", type=datetime.fromisoformat, default=None, metavar="INSTANT")
    chosen = parser.parse_args(arguments)
    bag = DagBag(conf.get("core", "dags_folder"))
    if bag.import_errors:
        print(bag.import_errors, file=sys.stderr)  # noqa: T201 - a program that prints
        return 1
    states = [run(bag, name, chosen.logical_date, chosen.results) for name in chosen.dags]
    return 0 if set(states) == {"success"} else 1


def run(bag: DagBag, name: str, logical_date: datetime | None, results: Path) -> str:
    """Run one DAG for an instant (now, unless given), write its result to a file, and return its state."""
    started = time.monotonic()
    dag = bag.dags[name]
    for task in dag.tasks:
        task.retries = 0  # a run by hand shows the first failure
    finished = dag.test(logical_date=logical_date or datetime.now(UTC))
    in_order = sorted(finished.get_task_instances(), key=lambda task: (task.end_date is None, task.end_date))
    states = {task.task_id: str(task.state) for task in in_order}
    result = {
        "dag": name,
        "state": str(finished.state),
        "tasks": states,
        "seconds": round(time.monotonic() - started, 1),
    }
    with results.open("a") as file:
        file.write(json.dumps(result) + "\n")
    return str(finished.state)


if __name__ == "__main__":
    sys.exit(main())
