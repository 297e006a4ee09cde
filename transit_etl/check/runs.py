"""Remembers what Airflow said of its runs, so that `check` says it too, which cannot see Airflow itself."""

from collections.abc import Callable, Iterator
from pathlib import Path

from pydantic import TypeAdapter

from transit_etl.check.problem import Problem
from transit_etl.files import locked
from transit_etl.memory import keep, recall
from transit_etl.paths import runs_file

_TEXT_BY_NAME = TypeAdapter(dict[str, str])


def problems(data_dir: Path) -> Iterator[Problem]:
    """Yield which tasks failed and which runs do not end, until each is told to be over."""
    for name, text in (recall(runs_file(data_dir), _TEXT_BY_NAME) or {}).items():
        yield Problem(name, text)


def remember(data_dir: Path, problem: Problem) -> None:
    """Let `check` find a problem from now on."""
    _change(data_dir, lambda texts: {**texts, problem.name: problem.text})


def forget(data_dir: Path, *names: str) -> None:
    """Let `check` find these problems no longer; nothing is written if it finds none of them."""
    if any(problem.name in names for problem in problems(data_dir)):
        _change(data_dir, lambda texts: {name: texts[name] for name in texts.keys() - set(names)})


def _change(data_dir: Path, changed: Callable[[dict[str, str]], dict[str, str]]) -> None:
    path = runs_file(data_dir)
    with locked(path.with_suffix(".lock")):
        keep(path, _TEXT_BY_NAME, changed(recall(path, _TEXT_BY_NAME) or {}))
