"""Makes damaged lake files again from raw, so that they stop no step."""

import functools
import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from itertools import chain
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from transit_base.files import rename
from transit_etl.lake_reading import UNREADABLE, damages_in, windows_of
from transit_etl.paths import NO_OPERATOR, all_lake_files, lake_day, raw_files
from transit_etl.settings import CollectSettings, Settings
from transit_etl.stage.lake import SCHEMA_DAY, ensure_schemas
from transit_etl.stage.raw import raw_window
from transit_etl.stage.runner import restage

P = ParamSpec("P")
T = TypeVar("T")
_log = logging.getLogger(__name__)


def repairing(
    step: Callable[Concatenate[Settings, P], T], *failures: type[Exception]
) -> Callable[Concatenate[Settings, P], T]:
    """Return a step that, when it fails because of damaged lake files, makes them again and starts over.

    `failures` are what the step raises, apart from what reading a lake file raises, if it cannot read one.
    """
    expected: tuple[type[Exception], ...] = (*UNREADABLE, *failures)

    @functools.wraps(step)
    def repaired(settings: Settings, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return step(settings, *args, **kwargs)
        except expected:
            damaged = find_damaged(settings.data_dir)
            if not damaged:
                raise
            for message in chain(*repair(settings, damaged)):
                _log.warning(message)
        return step(settings, *args, **kwargs)

    return repaired


def find_damaged(data_dir: Path) -> dict[Path, str]:
    """Read every lake file to its end; return the damaged ones, and what is wrong with each."""
    return damages_in(all_lake_files(data_dir))


def repair(settings: CollectSettings, damaged: Mapping[Path, str]) -> tuple[list[str], list[str]]:
    """Stage the days of lake files that are damaged or gone again; say what was wrong with each.

    Returns what was said of those that are as they should be, and of those that raw cannot replace: these
    are renamed, so that no step reads them. Of those that were and are gone nothing is said.
    """
    before = {path: _state(path) for path in damaged}
    by_day: dict[tuple[str, date], list[Path]] = defaultdict(list)
    for path in damaged:
        by_day[lake_day(path)].append(path)
    for path in by_day.pop((NO_OPERATOR, SCHEMA_DAY), []):
        path.unlink(missing_ok=True)  # it holds no row, and staging needs all of them
    ensure_schemas(settings.data_dir)
    for (operator, day), paths in by_day.items():
        if _has_raw(settings.data_dir, operator, day, paths):
            restage(settings, day, day)
    made, kept = [], []
    for path, damage in damaged.items():
        if before[path] != _state(path):
            made.append(f"{path}: {damage}; made again from raw")
        elif before[path] is not None:
            set_aside(path)
            kept.append(f"{path}: {damage}; raw cannot replace it: renamed to {path.name}.damaged")
    return made, kept


def set_aside(path: Path) -> None:
    """Rename a damaged file, so that nothing reads it."""
    rename(path, path.with_name(f"{path.name}.damaged"))


def _has_raw(data_dir: Path, operator: str, day: date, damaged: list[Path]) -> bool:
    """Return whether every window that the sound files of a day name is in raw."""
    in_raw = {raw_window(path).name for path in raw_files(data_dir, operator, day=day)}
    sound = [path for path in all_lake_files(data_dir, operator, day) if path not in damaged]
    in_lake = windows_of(sound)
    return bool(in_raw) and in_lake <= in_raw


def _state(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from one that was written in its place; None without a file."""
    with suppress(FileNotFoundError):
        status = path.lstat()
        return status.st_ino, status.st_mtime_ns
    return None
