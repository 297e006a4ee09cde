"""What the command line shows: progress on stderr for who watches, results on stdout for who reads."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

if TYPE_CHECKING:
    import pyarrow as pa

    from transit_etl.collect import Progress as Collected
    from transit_etl.rehearsal import RehearsalProgress as Rehearsed
    from transit_etl.rehearsal import RehearsalReport
    from transit_etl.stage import StageProgress
    from transit_etl.warehouse import BuildProgress

# What is piped into a file or a program is not cut to the width of a screen.
out = Console(width=None if sys.stdout.isatty() else 4096)
err = Console(stderr=True)
SECONDS_BETWEEN_UPDATES = 0.2


@contextmanager
def busy(doing: str) -> Iterator[None]:
    """Show that something is being done, where somebody watches."""
    with err.status(f"{doing} …"):
        yield


@contextmanager
def collecting() -> Iterator[Callable[["Collected"], None]]:
    """Show how far a collection is; yields what is to be called with its progress."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[requests]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("collecting", total=None, requests="")

        def on_progress(progress: "Collected") -> None:
            done = progress.elapsed_seconds if progress.seconds else progress.n_planned
            bar.update(
                task,
                description=progress.dataset,
                total=progress.seconds or progress.n_expected,
                completed=done,
                requests=f"{progress.n_sent} sent, {progress.n_good} good",
            )

        yield on_progress


@contextmanager
def building() -> Iterator[Callable[["BuildProgress"], None]]:
    """Show how far a build is; yields what is to be called with its progress."""
    columns = (TextColumn("building"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[name]}"))
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("building", total=None, name="")

        def on_progress(progress: "BuildProgress") -> None:
            bar.update(task, total=progress.n_total, completed=progress.n_done, name=progress.name)

        yield on_progress


@contextmanager
def staging() -> Iterator[Callable[["StageProgress"], None]]:
    """Show how far staging is; yields what is to be called with its progress."""
    columns = (TextColumn("staging"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[window]}"))
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("staging", total=None, window="")

        def on_progress(progress: "StageProgress") -> None:
            bar.update(task, total=progress.n_windows, completed=progress.n_done, window=progress.window)

        yield on_progress


class RehearsalBar:
    """Shows how far a rehearsal is, some times a second; `now` is the last virtual instant told of."""

    def __init__(self, bar: Progress) -> None:
        self.now: datetime | None = None
        self._bar = bar
        self._task = bar.add_task("rehearsing", total=None, requests="", speed="")
        self._began = time.monotonic()
        self._shown = 0.0
        self._first: float | None = None

    def update(self, progress: "Rehearsed") -> None:
        """Take over how far it is."""
        self.now = progress.now
        if self._first is None:
            self._first = progress.seconds_done
        elapsed = time.monotonic() - self._began
        if elapsed - self._shown < SECONDS_BETWEEN_UPDATES:
            return
        self._shown = elapsed
        self._bar.update(
            self._task,
            description=f"{progress.now:%Y-%m-%d %H:%M} UTC",
            total=progress.seconds_total,
            completed=progress.seconds_done,
            requests=f"{progress.n_requests:,} requests",
            speed=f"{(progress.seconds_done - self._first) / elapsed:,.0f} times real time",
        )


@contextmanager
def rehearsing() -> Iterator[RehearsalBar]:
    """Show how far a rehearsal is; yields the bar that is to be told."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[requests]}, {task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        yield RehearsalBar(bar)


def stopped_rehearsal(now: datetime | None) -> None:
    """Say that a rehearsal was interrupted, and that it can be taken up."""
    where = f" at {_at(now)} of its own time" if now else ""
    err.print(
        f"transit-etl: interrupted{where}; the same command goes on from there",
        highlight=False,
        soft_wrap=True,
    )


def rehearsal(done: "RehearsalReport", *, as_json: bool) -> None:
    """Show what was rehearsed, how fast, and where the time went; what made it fail goes to stderr."""
    if as_json:
        _print_json({**_fields(done), "times_real_time": done.times_real_time, "is_failure": done.is_failure})
    else:
        out.print(_rehearsal_table(done))
    for sentence in [*_refusals(done), *done.errors]:
        err.print(f"transit-etl: {sentence}", style="red", markup=False, highlight=False, soft_wrap=True)


def _rehearsal_table(done: "RehearsalReport") -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column(overflow="fold")
    if not done.virtual_seconds:
        grid.add_row("rehearsed", f"until {_at(done.end)}: there was nothing left to do")
        return grid
    virtual = timedelta(seconds=round(done.virtual_seconds))
    grid.add_row("rehearsed", f"{_at(done.start)} to {_at(done.end)}: {virtual} hours of its own time")
    speed = f"{done.times_real_time:,.0f} times real time"
    grid.add_row("took", f"{timedelta(seconds=round(done.real_seconds))}: {speed}")
    total = sum(done.outcomes.values())
    outcomes = ", ".join(f"{count:,} {outcome}" for outcome, count in done.outcomes.items())
    grid.add_row("requests", f"{total:,}: {outcomes}")
    grid.add_row("allowance", f"{done.allowance_share:.1%} used; refused as too many: {done.n_refused}")
    spent = sorted(done.seconds_spent.items(), key=lambda part: -part[1])
    parts = (f"{name} {seconds / max(1e-9, done.real_seconds):.0%}" for name, seconds in spent)
    grid.add_row("time went to", ", ".join(parts))
    for sentence in done.rejected:
        grid.add_row("rejected", sentence)
    return grid


def _refusals(done: "RehearsalReport") -> Iterator[str]:
    if done.n_refused:
        yield (
            f"failed: the upstream refused {done.n_refused} request{'s' * (done.n_refused > 1)} as too many "
            "(429), and no fault had asked it to"
        )


def report(result: object, *, as_json: bool) -> None:
    """Show a report, a dataclass: its fields one by one, or as one JSON object."""
    assert is_dataclass(result)  # noqa: S101 - every step reports in one
    if as_json:
        _print_json(result)
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_column()
    grid.add_column(overflow="fold")
    for name, value in _fields(result).items():
        if value not in ([], {}, None, ()):
            grid.add_row(name.replace("_", " "), _readable(value))
    out.print(grid)


def table(rows: "pa.Table", *, as_json: bool) -> None:
    """Show the answer to a query: a table with the number of rows below, or a JSON list of objects."""
    if as_json:
        _print_json(rows.to_pylist())
        return
    shown = Table(header_style="bold")
    for field in rows.schema:
        is_number = str(field.type).startswith(("int", "uint", "double", "float", "decimal"))
        shown.add_column(field.name, justify="right" if is_number else "left")
    for row in rows.to_pylist():
        shown.add_row(*(_readable(value) for value in row.values()))
    out.print(shown)
    out.print(f"{rows.num_rows} row{'' if rows.num_rows == 1 else 's'}", style="dim")


def _at(instant: datetime | None) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC" if instant else "never"


def error(problem: BaseException) -> None:
    """Say on stderr what went wrong, without a traceback."""
    err.print(f"transit-etl: {problem}", style="red", markup=False, highlight=False, soft_wrap=True)


def _print_json(value: Any) -> None:  # noqa: ANN401 - whatever is to be written
    out.print_json(json.dumps(value, default=_plain), indent=2 if out.is_terminal else None)


def _plain(value: object) -> object:
    if is_dataclass(value):
        return _fields(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def _fields(value: Any) -> dict[str, Any]:  # noqa: ANN401 - any dataclass; `asdict` would take counters apart
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _readable(value: Any) -> str:  # noqa: ANN401 - any value of a report or a row
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1 else f"{value:,.2f}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_readable(each)}" for name, each in value.items())
    if isinstance(value, (list, tuple)):
        return "\n".join(str(each) for each in value)
    return str(value)
