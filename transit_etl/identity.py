"""Keeps what a data folder is: whose answers it holds, how their service days are read, what was rehearsed.

Answers of two operators, or service days of two time zones, would be mixed in every figure. Whatever writes
into a data folder therefore claims it first, and is refused where the settings are of another folder.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated

import duckdb
from pydantic import AfterValidator, AwareDatetime, Field, TypeAdapter

from transit_etl import setting_checks
from transit_etl.errors import TransitError
from transit_etl.files import locked
from transit_etl.kept_facts import keep, recall
from transit_etl.paths import (
    all_lake_files,
    identity_file,
    identity_lock,
    is_rehearsed,
    operators_of,
    partition_of,
    published_database,
    raw_files,
)
from transit_etl.service_day import DAY
from transit_etl.settings import Settings
from transit_etl.stamps import stamped_at

_SERVICE_DAY = "select timezone, service_day_cutoff from quality.publication"


_Operator = Annotated[str, AfterValidator(setting_checks.partition_name)]


class OtherFolderError(TransitError):
    """The settings are not those of the data folder; the message says which, and what can be done."""


class OutdatedFolderError(TransitError):
    """Staged rows have the service days of earlier settings; the message says what stages them again."""


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A time (UTC) whose answers a rehearsal requested, on a virtual clock."""

    start: AwareDatetime
    end: AwareDatetime

    def has(self, instant: datetime) -> bool:
        """Return whether an instant lies in this time."""
        return self.start <= instant <= self.end

    def __str__(self) -> str:
        return f"{self.start:%Y-%m-%d %H:%M} to {self.end:%Y-%m-%d %H:%M} UTC"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a data folder is. `to_reprocess` are the first and the last UTC day staged by earlier settings."""

    operators: Annotated[tuple[_Operator, ...], Field(min_length=1)]
    timezone: Annotated[str, AfterValidator(setting_checks.zone_name)]
    service_day_cutoff: Annotated[time, AfterValidator(setting_checks.cutoff)]
    rehearsals: tuple[Rehearsal, ...] = ()
    to_reprocess: tuple[date, date] | None = None

    def __str__(self) -> str:
        return (
            f"{', '.join(self.operators)} in the time zone {self.timezone}, with service days from "
            f"{self.service_day_cutoff}"
        )


_IDENTITY = TypeAdapter(Identity)


def identity_of(settings: Settings) -> Identity | None:
    """Return what the data folder is, read from what it holds where no file says it; None of an empty one."""
    return kept_identity(settings.data_dir) or _found(settings)


def kept_identity(folder: Path) -> Identity | None:
    """Return what a file in a data folder, or in a backup of one, says that it is; None without one."""
    return recall(identity_file(folder), _IDENTITY)


def claim(settings: Settings, *, begins: bool = False) -> None:
    """Raise OtherFolderError unless the data folder is that of the settings; keep what it is.

    Of an empty folder nothing is kept unless the caller `begins` to fill it.
    """
    if problem := difference(settings):
        raise OtherFolderError(problem)
    if kept_identity(settings.data_dir) is None and (begins or _found(settings) is not None):
        _change(settings, lambda known: known)


def claim_to_build(settings: Settings) -> None:
    """Claim the data folder; raise OutdatedFolderError too while a part of it is to be staged again."""
    claim(settings)
    if outdated := outdated_of(settings):
        raise OutdatedFolderError(outdated)


def difference(settings: Settings) -> str | None:
    """Say how the settings differ from what the data folder is, and what can be done; None if they fit."""
    known = identity_of(settings)
    found = [] if known is None else list(_differences(settings, known))
    return _refusal(settings, found) if found else None


def outdated_of(settings: Settings) -> str | None:
    """Say which days are staged by earlier settings; None if there are none."""
    known = identity_of(settings)
    if known is None or known.to_reprocess is None:
        return None
    first, last = known.to_reprocess
    return (
        f"what was received from {first} to {last} is staged with service days of earlier settings: "
        f"`transit-etl reprocess --from {first} --to {last}` (`transit-etl restore` first, where raw answers "
        "were removed)"
    )


def rehearsals_in(settings: Settings) -> tuple[Rehearsal, ...]:
    """Return the times of which the data folder holds rehearsed answers."""
    known = identity_of(settings)
    return known.rehearsals if known else ()


def mark_rehearsed(settings: Settings, start: datetime, end: datetime) -> None:
    """Claim the data folder, and keep for good that it holds answers of a rehearsal."""
    claim(settings, begins=True)

    def marked(known: Identity) -> Identity:
        others = tuple(each for each in known.rehearsals if each.start != start)
        ends = [each.end for each in known.rehearsals if each.start == start]
        return replace(known, rehearsals=(*others, Rehearsal(start, max([end, *ends]))))

    _change(settings, marked)


def mark_reprocessed(settings: Settings, first: date, last: date) -> None:
    """Keep that the UTC days from `first` to `last` are staged with the service days of the settings."""

    def marked(known: Identity) -> Identity:
        if known.to_reprocess is None or not first <= known.to_reprocess[0] <= last:
            return known
        end = known.to_reprocess[1]
        return replace(known, to_reprocess=(last + DAY, end) if last < end else None)

    if outdated_of(settings):
        _change(settings, marked)


def accept(settings: Settings) -> list[str]:
    """Let the data folder be that of the settings, whatever it was; say what follows from each change."""
    known, wanted = identity_of(settings), _of(settings)
    if known is None:
        return []
    is_other_day = (known.timezone, known.service_day_cutoff) != (wanted.timezone, wanted.service_day_cutoff)
    has_other_operator = settings.operator not in known.operators
    days = _days(settings.data_dir)

    def accepted(before: Identity) -> Identity:
        operators = (*before.operators, settings.operator) if has_other_operator else before.operators
        to_reprocess = (days[0], days[-1]) if is_other_day and days else before.to_reprocess
        return replace(wanted, operators=operators, rehearsals=before.rehearsals, to_reprocess=to_reprocess)

    if is_other_day or has_other_operator:
        _change(settings, accepted)
    follows = []
    if has_other_operator:
        names = ", ".join((*known.operators, settings.operator))
        follows.append(
            f"one warehouse, one published file and all exports hold the answers of {names} from now on: a "
            "row says whose it is, and a figure over all rows is of all of them"
        )
    if is_other_day and (outdated := outdated_of(settings)):
        follows.append(f"nothing is built before this is done: {outdated}; then `transit-etl publish`")
    return follows


def _change(settings: Settings, changed: Callable[[Identity], Identity]) -> None:
    with locked(identity_lock(settings.data_dir)):
        known = identity_of(settings) or _of(settings)
        keep(identity_file(settings.data_dir), _IDENTITY, changed(known))


def _of(settings: Settings) -> Identity:
    return Identity((settings.operator,), settings.timezone, settings.service_day_cutoff)


def _differences(settings: Settings, known: Identity) -> Iterator[str]:
    """Say what the data folder has that a setting has not."""
    if settings.operator not in known.operators:
        names = ", ".join(known.operators)
        yield f"holds answers of {names}, not of {settings.operator} (TRANSIT_OPERATOR)"
    if settings.timezone != known.timezone:
        yield f"is in the time zone {known.timezone}, not {settings.timezone} (TRANSIT_TIMEZONE)"
    if settings.service_day_cutoff != known.service_day_cutoff:
        yield (
            f"has service days from {known.service_day_cutoff}, not {settings.service_day_cutoff} "
            "(TRANSIT_SERVICE_DAY_CUTOFF)"
        )


def _refusal(settings: Settings, found: list[str]) -> str:
    return (
        f"the data folder {settings.data_dir.absolute()} {' and '.join(found)}: set what it has, choose "
        "another TRANSIT_DATA_DIR, or let it change by `transit-etl folder --accept`, which says what follows"
    )


def _found(settings: Settings) -> Identity | None:
    """Read what a data folder is from its answers and its published file; None without an answer."""
    operators = operators_of(settings.data_dir)
    if not operators:
        return None
    zone, cutoff = _published_service_day(settings) or (settings.timezone, settings.service_day_cutoff)
    return Identity(tuple(operators), zone, cutoff, tuple(_rehearsed(settings.data_dir)))


def _published_service_day(settings: Settings) -> tuple[str, time] | None:
    """Return the time zone and the cutoff that the published file was made with, if it says so."""
    try:
        with duckdb.connect(published_database(settings.data_dir), read_only=True) as connection:
            rows = connection.execute(_SERVICE_DAY).fetchall()
    except duckdb.Error:
        return None
    return (str(rows[0][0]), rows[0][1]) if rows else None


def _rehearsed(data_dir: Path) -> Iterator[Rehearsal]:
    """Yield the time from the first rehearsed window to the last one, as their names say it."""
    names = [path.name for path in (*raw_files(data_dir), *all_lake_files(data_dir))]
    began = sorted(
        at.replace(tzinfo=UTC) for name in names if is_rehearsed(name) and (at := stamped_at(name))
    )
    if began:
        yield Rehearsal(began[0], began[-1])


def _days(data_dir: Path) -> list[date]:
    """Return the UTC days of which there are raw answers, sorted."""
    found = set()
    for name in {partition_of(path)["date"] for path in raw_files(data_dir)}:
        with suppress(ValueError):  # the name of a folder that is none of ours
            found.add(date.fromisoformat(name))
    return sorted(found)
