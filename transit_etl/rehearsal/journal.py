"""Records which rehearsal a data folder holds, and until when it is done."""

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from transit_base.errors import MISSHAPEN, TransitError
from transit_base.files import write_text
from transit_base.stamps import stamp
from transit_etl.collect.allowance.budget_state import BudgetState
from transit_etl.collect.allowance.state_text import dumps, loads
from transit_etl.endpoints import REHEARSED
from transit_etl.paths import (
    REHEARSAL_WORKER,
    lake_dir,
    quarantine_dir,
    raw_dir,
    rehearsal_journal,
)
from transit_etl.settings import FolderSettings

_WINDOW = re.compile(rf"(?P<began>\d{{8}}T\d{{6}}Z)-[a-z0-9_]+-{REHEARSAL_WORKER}\.")


class RehearsalError(TransitError):
    """A rehearsal cannot begin or go on in this data folder; the message says why."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """What is rehearsed: the collections of the DAGs in `only`, in periods of several windows."""

    start: datetime
    hours: float
    rate_per_minute: int
    window: timedelta
    period: timedelta
    policy: str
    only: tuple[str, ...] = REHEARSED

    @property
    def end(self) -> datetime:
        """The instant at which the rehearsal is over."""
        return self.start + timedelta(hours=self.hours)

    def window_after(self, instant: datetime) -> datetime:
        """Return the end of the window that an instant lies in, or begins."""
        n_begun = (instant - self.start) // self.window
        return min(self.end, self.start + self.window * (n_begun + 1))

    def due_between(self, every: timedelta, first: datetime, end: datetime) -> list[datetime]:
        """Return the instants in [first, end) at which intervals begin, counted from the schedule's start."""
        n_begun = -((self.start - first) // every)
        due_at = self.start + every * n_begun
        found = []
        while due_at < end:
            found.append(due_at)
            due_at += every
        return found


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state after a finished period: everything before `done_until` is in the lake.

    `budget` is the state of the budget as text; `n_refused` counts the 429s that were not injected as faults.
    """

    done_until: datetime
    budget: str
    n_refused: int


class Journal:
    """The rehearsal in a data folder."""

    def __init__(self, settings: FolderSettings, schedule: Schedule) -> None:
        self._data_dir = settings.data_dir
        self._path = rehearsal_journal(settings.data_dir)
        self._schedule = schedule
        self._identity = {
            "start": schedule.start.isoformat(),
            "rate_per_minute": schedule.rate_per_minute,
            "window_seconds": schedule.window.total_seconds(),
            "leg_seconds": schedule.period.total_seconds(),  # the name that existing journals have
            "policy": schedule.policy,
            "operator": settings.operator,
        }
        if schedule.only != REHEARSED:  # a journal without it is of a rehearsal of everything
            self._identity["only"] = ",".join(schedule.only)
        self.checkpoint = self._read() or Checkpoint(schedule.start, dumps(BudgetState()), n_refused=0)

    def begin(self) -> None:
        """Claim the folder, and remove the windows of an interrupted period, which is rehearsed again.

        Only windows of a rehearsal are ever removed. RehearsalError if a real collection has since used the
        folder: its answers would change what the rest of the rehearsal requests.
        """
        if self.checkpoint.done_until >= self._schedule.end:
            return
        raw = raw_dir(self._data_dir)
        if any(path.is_file() and not _WINDOW.match(path.name) for path in raw.rglob("*")):
            raise RehearsalError(
                f"{self._data_dir} holds answers of a real collection and an unfinished rehearsal: "
                "rehearse in a folder of its own (TRANSIT_DATA_DIR)"
            )
        self._write()
        first = stamp(self.checkpoint.done_until)
        for path in self._windows():
            if path.name >= first:
                path.unlink()

    def write(self, checkpoint: Checkpoint) -> None:
        """Write the state after the periods finished by now."""
        self.checkpoint = checkpoint
        self._write()

    def _windows(self) -> Iterator[Path]:
        for folder_of in (raw_dir, lake_dir, quarantine_dir):
            for path in folder_of(self._data_dir).rglob("*"):
                if path.is_file() and _WINDOW.match(path.name):
                    yield path

    def _write(self) -> None:
        state = {**asdict(self.checkpoint), "done_until": self.checkpoint.done_until.isoformat()}
        write_text(self._path, json.dumps({**self._identity, **state}, indent=1))

    def _read(self) -> Checkpoint | None:
        try:
            text = self._path.read_text()
        except FileNotFoundError:
            if raw_dir(self._data_dir).exists():
                raise RehearsalError(
                    f"{self._data_dir} holds answers of a real collection: rehearse in a folder of its own "
                    "(TRANSIT_DATA_DIR)"
                ) from None
            return None
        except ValueError as error:
            raise self._damaged(error) from error
        checkpoint, kept = self._parse(text)
        if kept != self._identity:
            found = ", ".join(" ".join(f"{name} {value}".split()) for name, value in kept.items())
            raise RehearsalError(f"{self._data_dir} holds another rehearsal: {found}")
        return checkpoint

    def _parse(self, text: str) -> tuple[Checkpoint, dict[str, object]]:
        """Return the checkpoint in a journal, and what else it holds; RehearsalError if it is damaged."""
        try:
            kept = json.loads(text)
            done_until = datetime.fromisoformat(kept.pop("done_until")).astimezone(UTC)
            checkpoint = Checkpoint(done_until, kept.pop("budget"), int(kept.pop("n_refused")))
            loads(checkpoint.budget)
        except (*MISSHAPEN, TransitError) as error:
            raise self._damaged(error) from error
        return checkpoint, kept

    def _damaged(self, error: Exception) -> RehearsalError:
        return RehearsalError(
            f"{self._path} is damaged ({error!r}): rehearse in another folder (TRANSIT_DATA_DIR)"
        )
