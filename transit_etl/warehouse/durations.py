"""Remembers in the data folder how long building and publishing took last."""

from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter

from transit_etl.kept_facts import keep, recall
from transit_etl.paths import durations_file

_SECONDS_BY_STEP = TypeAdapter(dict[str, float])


def remember_duration(data_dir: Path, step: str, seconds: float) -> None:
    """Keep how long a step took that succeeded; only who holds the lock of the warehouse may do so.

    Where nothing can be written nothing is kept: the step itself is done.
    """
    with suppress(OSError):
        keep(durations_file(data_dir), _SECONDS_BY_STEP, {**last_durations(data_dir), step: seconds})


def last_durations(data_dir: Path) -> dict[str, float]:
    """Return the seconds that each step (`build`, `publish`) took when it succeeded last."""
    return recall(durations_file(data_dir), _SECONDS_BY_STEP) or {}
