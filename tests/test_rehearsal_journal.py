"""A journal that is damaged anywhere ends in one clear line, and never in another rehearsal's course."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from transit_etl.collect.allowance.budget_state import BudgetState
from transit_etl.collect.allowance.state_text import loads
from transit_etl.paths import rehearsal_journal
from transit_etl.rehearsal.journal import Journal, RehearsalError, Schedule
from transit_etl.settings import Settings

START = datetime(2026, 3, 2, 5, tzinfo=UTC)
SCHEDULE = Schedule(START, 2.0, 60, timedelta(minutes=5), timedelta(hours=1), "adaptive")


def _journal_text() -> str:
    with TemporaryDirectory() as folder:
        Journal(Settings(data_dir=Path(folder)), SCHEDULE).begin()
        return rehearsal_journal(Path(folder)).read_text(encoding="utf-8")


TEXT = _journal_text()


@given(st.integers(1, 300), st.integers(1, 300), st.integers(1, 40))
def test_each_interval_begins_in_exactly_one_window(every: int, window: int, n_windows: int) -> None:
    windows = [START + timedelta(minutes=window * number) for number in range(n_windows + 1)]
    found = [
        due
        for first, end in pairwise(windows)
        for due in SCHEDULE.due_between(timedelta(minutes=every), first, end)
    ]

    assert found == [START + timedelta(minutes=at) for at in range(0, window * n_windows, every)]


@given(st.integers(0, len(TEXT)), st.integers(0, 40), st.binary(max_size=10))
@settings(max_examples=400, deadline=None)
def test_a_damaged_journal_is_refused_in_one_line_or_read_with_all_it_needs(
    at: int, length: int, other: bytes
) -> None:
    with TemporaryDirectory() as folder:
        path = rehearsal_journal(Path(folder))
        path.parent.mkdir(parents=True)
        path.write_bytes(TEXT[:at].encode() + other + TEXT[at + length :].encode())
        try:
            checkpoint = Journal(Settings(data_dir=Path(folder)), SCHEDULE).checkpoint
        except RehearsalError as error:
            assert "\n" not in str(error)  # noqa: PT017 - either is right
        else:
            assert START.tzinfo == checkpoint.done_until.tzinfo
            assert isinstance(loads(checkpoint.budget), BudgetState)
