"""Progress on stderr: a bar where it is a terminal, elsewhere a line now and then."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Column

from transit_etl.cli.output import err

if TYPE_CHECKING:
    from datetime import datetime

    from transit_etl.collect import Progress as CollectProgress
    from transit_etl.rehearsal import RehearsalProgress
    from transit_etl.stage import StageProgress
    from transit_etl.warehouse import BuildProgress

SECONDS_BETWEEN_UPDATES = 0.2
SECONDS_BETWEEN_LINES = 30.0
SECONDS_BEFORE_ESTIMATE = 10.0


class ProgressLines:
    """Prints at most one line in a while, for logs; nothing on a terminal, which shows a bar or a spinner."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or err
        self._printed_at = time.monotonic()
        self._printed = ""

    def update(self, text: str) -> None:
        """Print how far the work is, unless the last line is new, or says the same."""
        is_due = time.monotonic() - self._printed_at >= SECONDS_BETWEEN_LINES
        if is_due and text != self._printed and not self._console.is_terminal:
            self._printed_at, self._printed = time.monotonic(), text
            self._console.print(text, soft_wrap=True)


@contextmanager
def spinner(text: str) -> Iterator[None]:
    """Show what is being done while the context lasts."""
    with err.status(f"{text} …"):
        yield


@contextmanager
def collecting() -> Iterator[Callable[["CollectProgress"], None]]:
    """Show how far a collection is; yield the function to call with its progress."""
    counts = TextColumn("{task.fields[requests]}", markup=False)
    description = TextColumn("{task.description}", markup=False)
    lines = ProgressLines()
    with _bar(description, BarColumn(), counts, TimeElapsedColumn()) as bar:
        task = bar.add_task("collecting", total=None, requests="")

        def on_progress(progress: "CollectProgress") -> None:
            requests = f"{progress.n_sent} sent, {progress.n_good} good"
            lines.update(f"collecting {progress.dataset}: {requests}")
            bar.update(
                task,
                description=progress.dataset,
                total=progress.seconds or progress.n_expected,
                completed=progress.elapsed_seconds if progress.seconds else progress.n_planned,
                requests=requests,
            )

        yield on_progress


@contextmanager
def staging() -> Iterator[Callable[["StageProgress"], None]]:
    """Show how far staging is; yield the function to call with its progress."""
    with _counted("staging") as update:
        yield lambda progress: update(progress.n_done, progress.n_windows, progress.window)


@contextmanager
def building() -> Iterator[Callable[["BuildProgress"], None]]:
    """Show how far a build is; yield the function to call with its progress."""
    with _counted("building") as update:
        yield lambda progress: update(progress.n_done, progress.n_total, progress.name)


@contextmanager
def exporting() -> Iterator[Callable[[int, int, str], None]]:
    """Show how many datasets are exported; yield the function to call before each."""
    with _counted("exporting") as update:
        yield update


class RehearsalBar:
    """Shows how far a rehearsal is; `now` is the last virtual instant it reported."""

    def __init__(self, bar: Progress) -> None:
        self.now: datetime | None = None
        self._bar = bar
        self._task = bar.add_task("rehearsing", total=None, counts="")
        self._started = time.monotonic()
        self._updated = 0.0
        self._first: float | None = None
        self._lines = ProgressLines()

    def update(self, progress: "RehearsalProgress") -> None:
        """Take the progress, and show it if the last one was shown long enough ago."""
        self.now = progress.now
        if self._first is None:
            self._first = progress.seconds_done
        elapsed = time.monotonic() - self._started
        if elapsed - self._updated < SECONDS_BETWEEN_UPDATES:
            return
        self._updated = elapsed
        speed = (progress.seconds_done - self._first) / elapsed
        done = f"{progress.seconds_done / progress.seconds_total:.0%}" if progress.seconds_total else ""
        left = time_left(progress.seconds_total - progress.seconds_done, speed, elapsed)
        self._lines.update(f"rehearsed to {progress.now:%Y-%m-%d %H:%M} UTC, {done}{left}")
        self._bar.update(
            self._task,
            description=f"{progress.now:%Y-%m-%d %H:%M} UTC",
            total=progress.seconds_total,
            completed=progress.seconds_done,
            counts=f"{progress.n_requests:,} requests, {speed:,.0f} times real time{left}",
        )


def time_left(virtual_seconds: float, speed: float, elapsed: float) -> str:
    """Say how long a rehearsal will still take; nothing until its speed is known well enough.

    It begins with the lists of the network, of which a few seconds tell nothing about polling.
    """
    if elapsed < SECONDS_BEFORE_ESTIMATE or speed <= 0:
        return ""
    minutes, seconds = divmod(round(virtual_seconds / speed), 60)
    return f", about {minutes} min left" if minutes else f", about {seconds} s left"


@contextmanager
def rehearsing() -> Iterator[RehearsalBar]:
    """Show how far a rehearsal is; yield the bar to update."""
    counts = TextColumn("{task.fields[counts]}", markup=False)
    description = TextColumn("{task.description}", markup=False)
    with _bar(description, BarColumn(), TaskProgressColumn(), counts) as bar:
        yield RehearsalBar(bar)


@contextmanager
def _counted(what: str) -> Iterator[Callable[[int, int, str], None]]:
    """Show a bar of things done of a total, and the name of the last one as far as there is room."""
    last = TextColumn(
        "{task.fields[name]}",
        markup=False,
        table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"),
    )
    counts = MofNCompleteColumn(table_column=Column(no_wrap=True, min_width=len("1000/1000")))
    bar_column = BarColumn(bar_width=20, table_column=Column(min_width=20))
    lines = ProgressLines()
    with _bar(TextColumn(what, markup=False), bar_column, counts, last, expand=True) as bar:
        task = bar.add_task(what, total=None, name="")

        def update(done: int, total: int, name: str) -> None:
            lines.update(f"{what}: {done} of {total}, {name}")
            bar.update(task, completed=done, total=total or None, name=name)

        yield update


def _bar(*columns: ProgressColumn, expand: bool = False) -> Progress:
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal, expand=expand)
