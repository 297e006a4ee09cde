"""Long work says how far it is, also where there is no terminal."""

import io
from datetime import UTC, datetime

import pytest
from rich.console import Console

from scripts.demo_progress import waiting
from transit_etl.cli import progress
from transit_etl.rehearsal import RehearsalProgress
from transit_etl.warehouse import BuildProgress


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    """Return what is written to a standard error that is no terminal, with no time between two lines."""
    written = io.StringIO()
    monkeypatch.setattr(progress, "err", Console(file=written, width=200))
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    return written


def test_without_a_terminal_counted_work_is_a_line_now_and_then(log: io.StringIO) -> None:
    with progress.building() as update:
        for _ in range(2):  # a line that says what the last one said is left out
            update(progress_of("stop_visits", 3, 120))

    assert "building: 3 of 120, stop_visits\n" == log.getvalue()


def test_without_a_terminal_the_demonstration_says_now_and_then_what_it_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    console = Console(file=io.StringIO(), width=80)
    with waiting(console, "rehearsing") as update:
        update("rehearsing: 40% of 72 hours are done")

    assert isinstance(console.file, io.StringIO)
    assert "rehearsing: 40% of 72 hours are done\n" == console.file.getvalue()


def test_without_a_terminal_nothing_is_printed_for_short_work(
    log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 30.0)
    with progress.building() as update:
        update(progress_of("stop_visits", 3, 120))

    assert "" == log.getvalue()


def test_without_a_terminal_a_rehearsal_says_the_instant_it_has_reached(
    log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_UPDATES", 0.0)
    with progress.rehearsing() as bar:
        bar.update(RehearsalProgress(datetime(2026, 3, 2, 8, tzinfo=UTC), 900.0, 3600.0, 60))

    assert "rehearsed to 2026-03-02 08:00 UTC, 25%\n" == log.getvalue()


@pytest.mark.parametrize(
    ("elapsed", "said"), [(2, ""), (30, ", about 4 min left"), (270, ", about 50 s left")]
)
def test_a_rehearsal_estimates_its_end_once_its_speed_is_known(elapsed: float, said: str) -> None:
    speed = 10.0

    assert said == progress.time_left(3200 - elapsed * speed, speed, elapsed)


@pytest.mark.parametrize("width", [45, 60, 100])
def test_the_bar_of_a_build_shows_its_counts_at_any_width(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    terminal = on_terminal(monkeypatch, width)
    with progress.building() as update:
        update(progress_of("no_visit_is_lost_on_the_way_to_the_marts_" * 3, 1030, 1210))
    shown = terminal.getvalue()

    assert "1030/1210" in shown
    assert "━" * 20 in shown.replace("╸", "━").replace("╺", "━")


def on_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> io.StringIO:
    """Let standard error be a terminal of some width; return what is written to it."""
    written = io.StringIO()
    terminal = Console(file=written, width=width, force_terminal=True, color_system=None)
    monkeypatch.setattr(progress, "err", terminal)
    return written


def progress_of(name: str, done: int, total: int) -> BuildProgress:
    """Return the progress of a build."""
    return BuildProgress(name, done, total)


def test_a_total_that_is_not_known_yet_is_not_shown_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch, 80)
    with progress.building() as update:
        update(progress_of("stop_visits", 29, 0))

    assert "29/?" in terminal.getvalue()
