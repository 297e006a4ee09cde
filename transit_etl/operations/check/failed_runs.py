"""Remembers what Airflow said of its runs, so that `check` says it too, which cannot see Airflow itself.

What was not said again for a week is forgotten: every DAG runs daily, so that one was removed or paused, or
the dataset of a task no longer exists, and nothing would ever say that the problem is over.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from transit_base.files import locked
from transit_etl.kept_facts import keep, recall
from transit_etl.operations.check.problem import Problem
from transit_etl.paths import runs_file

FORGOTTEN_AFTER = timedelta(days=7)


class _Said(NamedTuple):
    """What was said of a run, and when last."""

    text: str
    at: datetime


_SAID_BY_NAME = TypeAdapter(dict[str, _Said])


def problems(data_dir: Path, now: datetime) -> Iterator[Problem]:
    """Yield which tasks failed and which runs do not end, until each is told to be over, or forgotten."""
    for name, said in _said(data_dir).items():
        if now - said.at < FORGOTTEN_AFTER:
            yield Problem(name, said.text)


def remember_failure(data_dir: Path, problem: Problem, now: datetime) -> None:
    """Let `check` find a problem from now on."""
    _change(data_dir, lambda said: {**said, problem.name: _Said(problem.text, now)})


def forget_failures(data_dir: Path, *names: str) -> None:
    """Let `check` find these problems no longer; nothing is written if it finds none of them."""
    if _said(data_dir).keys() & set(names):
        _change(data_dir, lambda said: {name: said[name] for name in said.keys() - set(names)})


def _said(data_dir: Path) -> dict[str, _Said]:
    return recall(runs_file(data_dir), _SAID_BY_NAME) or {}


def _change(data_dir: Path, changed: Callable[[dict[str, _Said]], dict[str, _Said]]) -> None:
    path = runs_file(data_dir)
    with locked(path.with_suffix(".lock")):
        keep(path, _SAID_BY_NAME, changed(_said(data_dir)))
