"""Keeps what a data folder is: whose answers it holds, how their service days are read, what was rehearsed.

A folder can hold the answers of several operators, each with its own time zone. Settings that name another
operator, or another time zone than the operator's, are mostly a mistake. Whatever writes into a data folder
therefore claims it first, and is refused where the settings are of another folder.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo

import duckdb
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, Field, TypeAdapter

from transit_base.errors import TransitError
from transit_base.files import locked
from transit_base.stamps import stamped_at
from transit_etl import setting_checks
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
from transit_etl.service_day import DAY, seconds_of, service_date
from transit_etl.settings import FolderSettings, SomeSettings

# The first is of a file that an older version published: it has one time zone for all operators.
_PUBLISHED_DAYS = (
    "select null, timezone, service_day_cutoff from quality.publication",
    "select operator, timezone, service_day_cutoff from quality.operators",
)

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
class ServiceDays:
    """How the service days of an operator are read: in which time zone, and from which local time on."""

    timezone: Annotated[str, AfterValidator(setting_checks.zone_name)]
    service_day_cutoff: Annotated[time, AfterValidator(setting_checks.cutoff)]

    def date_of(self, instant: datetime) -> date:
        """Return the service date of an aware instant."""
        return service_date(instant, ZoneInfo(self.timezone), self.service_day_cutoff)

    @property
    def starts_seconds(self) -> int:
        """When a service day begins, in seconds after midnight."""
        return seconds_of(self.service_day_cutoff)

    def __str__(self) -> str:
        return f"in the time zone {self.timezone}, with service days from {self.service_day_cutoff}"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a data folder is: of each operator how its service days are read, and what was rehearsed.

    `to_reprocess` are, of operators with answers staged by earlier settings, the first and the last UTC day.
    """

    operators: Annotated[dict[_Operator, ServiceDays], Field(min_length=1)]
    rehearsals: tuple[Rehearsal, ...] = ()
    to_reprocess: dict[_Operator, tuple[date, date]] = field(default_factory=dict)

    def __str__(self) -> str:
        return "; ".join(f"{operator} {days}" for operator, days in self.operators.items())


def _as_kept_now(kept: Any) -> Any:  # noqa: ANN401 - of a file, whatever it holds
    """Return what a file keeps in today's form: older versions kept one time zone for all operators."""
    operators = kept.get("operators") if isinstance(kept, dict) else None
    if not isinstance(operators, list) or not all(isinstance(name, str) for name in operators):
        return kept
    days = {name: kept.get(name) for name in ("timezone", "service_day_cutoff")}
    outdated = kept.get("to_reprocess")
    return {
        "operators": dict.fromkeys(operators, days),
        "rehearsals": kept.get("rehearsals", ()),
        "to_reprocess": dict.fromkeys(operators, outdated) if outdated else {},
    }


_IDENTITY: TypeAdapter[Identity] = TypeAdapter(Annotated[Identity, BeforeValidator(_as_kept_now)])


def identity_of(settings: FolderSettings) -> Identity | None:
    """Return what the data folder is, read from what it holds where no file says it; None of an empty one."""
    return kept_identity(settings.data_dir) or _found(settings)


def kept_identity(folder: Path) -> Identity | None:
    """Return what a file in a data folder, or in a backup of one, says that it is; None without one."""
    return recall(identity_file(folder), _IDENTITY)


def service_days(settings: FolderSettings) -> Mapping[str, ServiceDays]:
    """Return how the service days of each operator of the data folder are read."""
    return (identity_of(settings) or _of(settings)).operators


def settings_of(settings: SomeSettings, operator: str) -> SomeSettings:
    """Return the settings with which the answers of an operator of the data folder are staged."""
    if operator == settings.operator:
        return settings
    days = service_days(settings)[operator]
    return settings.of(operator).model_copy(
        update={"timezone": days.timezone, "service_day_cutoff": days.service_day_cutoff}
    )


def operators_settings(settings: SomeSettings) -> list[SomeSettings]:
    """Return the settings of each operator of the data folder."""
    return [settings_of(settings, operator) for operator in service_days(settings)]


def part_of(settings: FolderSettings) -> str:
    """Return the folder of an operator in those of exports and of pages; none where there is one alone."""
    return settings.operator if len(service_days(settings)) > 1 else ""


def claim(settings: FolderSettings, *, begins: bool = False) -> None:
    """Raise OtherFolderError unless the data folder is that of the settings; keep what it is.

    Of an empty folder nothing is kept unless the caller `begins` to fill it. An operator that the project
    names in `operators.toml` is added to those of the folder.
    """
    if problem := difference(settings):
        raise OtherFolderError(problem)
    known = kept_identity(settings.data_dir)
    has_answers = begins or settings.operator in operators_of(settings.data_dir)
    if has_answers and (known is None or settings.operator not in known.operators):
        _change(settings, lambda now: replace(now, operators=_of(settings).operators | now.operators))


def claim_to_build(settings: FolderSettings) -> None:
    """Claim the data folder; raise OutdatedFolderError too while a part of it is to be staged again."""
    claim(settings)
    if outdated := outdated_of(settings):
        raise OutdatedFolderError(outdated)


def difference(settings: FolderSettings) -> str | None:
    """Say how the settings differ from what the data folder is, and what can be done; None if they fit."""
    known = identity_of(settings)
    found = [] if known is None else list(_differences(settings, known))
    return _refusal(settings, found) if found else None


def outdated_of(settings: FolderSettings) -> str | None:
    """Say which days are staged by earlier settings; None if there are none."""
    known = identity_of(settings)
    if known is None or not known.to_reprocess:
        return None
    first = min(begin for begin, _ in known.to_reprocess.values())
    last = max(end for _, end in known.to_reprocess.values())
    return (
        f"what {' and '.join(known.to_reprocess)} answered from {first} to {last} is staged with service "
        f"days of earlier settings: `transit-etl reprocess --from {first} --to {last}` "
        "(`transit-etl restore` first, where raw answers were removed)"
    )


def rehearsals_in(settings: FolderSettings) -> tuple[Rehearsal, ...]:
    """Return the times of which the data folder holds rehearsed answers."""
    known = identity_of(settings)
    return known.rehearsals if known else ()


def mark_rehearsed(settings: FolderSettings, start: datetime, end: datetime) -> None:
    """Claim the data folder, and keep for good that it holds answers of a rehearsal."""
    claim(settings, begins=True)

    def marked(known: Identity) -> Identity:
        others = tuple(each for each in known.rehearsals if each.start != start)
        ends = [each.end for each in known.rehearsals if each.start == start]
        return replace(known, rehearsals=(*others, Rehearsal(start, max([end, *ends]))))

    _change(settings, marked)


def mark_reprocessed(settings: FolderSettings, first: date, last: date) -> None:
    """Keep that the UTC days from `first` to `last` are staged with the service days of the operators."""

    def marked(known: Identity) -> Identity:
        left = {
            operator: days
            for operator, before in known.to_reprocess.items()
            if (days := _without(before, first, last)) is not None
        }
        return replace(known, to_reprocess=left)

    if outdated_of(settings):
        _change(settings, marked)


def _without(days: tuple[date, date], first: date, last: date) -> tuple[date, date] | None:
    """Return a range of days without those of another one that has its first day; None if none is left."""
    begin, end = days
    if not first <= begin <= last:
        return days
    return (last + DAY, end) if last < end else None


def accept(settings: FolderSettings) -> list[str]:
    """Let the data folder be that of the settings, whatever it was; say what follows from each change."""
    known, operator = identity_of(settings), settings.operator
    if known is None:
        return []
    wanted = _of(settings).operators[operator]
    is_added = operator not in known.operators
    is_other_day = not is_added and known.operators[operator] != wanted
    days = _days(settings.data_dir, operator)

    def accepted(before: Identity) -> Identity:
        outdated = {operator: (days[0], days[-1])} if is_other_day and days else {}
        return replace(
            before,
            operators={**before.operators, operator: wanted},
            to_reprocess={**before.to_reprocess, **outdated},
        )

    if is_other_day or is_added:
        _change(settings, accepted)
    follows = []
    if is_added:
        names = ", ".join((*known.operators, operator))
        follows.append(
            f"one warehouse and one published file hold the answers of {names} from now on: a row says whose "
            "it is, and a figure over all rows is of all of them"
        )
    if is_other_day and (outdated := outdated_of(settings)):
        follows.append(f"nothing is built before this is done: {outdated}; then `transit-etl publish`")
    return follows


def _change(settings: FolderSettings, changed: Callable[[Identity], Identity]) -> None:
    with locked(identity_lock(settings.data_dir)):
        known = identity_of(settings) or _of(settings)
        keep(identity_file(settings.data_dir), _IDENTITY, changed(known))


def _of(settings: FolderSettings) -> Identity:
    return Identity({settings.operator: _set_days(settings)})


def _set_days(settings: FolderSettings) -> ServiceDays:
    return ServiceDays(settings.timezone, settings.service_day_cutoff)


def _differences(settings: FolderSettings, known: Identity) -> Iterator[str]:
    """Say what the data folder has that a setting has not."""
    days = known.operators.get(settings.operator)
    if days is None and not settings.are_operators_named:
        yield f"holds answers of {', '.join(known.operators)}, not of {settings.operator} (TRANSIT_OPERATOR)"
    if days is not None and settings.timezone != days.timezone:
        yield f"is in the time zone {days.timezone}, not {settings.timezone} (TRANSIT_TIMEZONE)"
    if days is not None and settings.service_day_cutoff != days.service_day_cutoff:
        yield (
            f"has service days from {days.service_day_cutoff}, not {settings.service_day_cutoff} "
            "(TRANSIT_SERVICE_DAY_CUTOFF)"
        )
    if unnamed := set(operators_of(settings.data_dir)) - {*known.operators, settings.operator}:
        yield f"holds answers of {', '.join(sorted(unnamed))} too, whose time zone it does not know"


def _refusal(settings: FolderSettings, found: list[str]) -> str:
    return (
        f"the data folder {settings.data_dir.absolute()} {' and '.join(found)}: set what it has, choose "
        "another TRANSIT_DATA_DIR, or let it change by `transit-etl folder --accept`, which says what follows"
    )


def _found(settings: FolderSettings) -> Identity | None:
    """Read what a data folder is from its answers and its published file; None without an answer."""
    operators = operators_of(settings.data_dir)
    if not operators:
        return None
    published = _published_days(settings)
    days = {
        operator: published.get(operator) or published.get(None) or _set_days(settings.of(operator))
        for operator in operators
    }
    return Identity(days, tuple(_rehearsed(settings.data_dir)))


def _published_days(settings: FolderSettings) -> dict[str | None, ServiceDays]:
    """Return how the service days of the published file are read; under None, those of any operator."""
    found: dict[str | None, ServiceDays] = {}
    for query in _PUBLISHED_DAYS:
        with (
            suppress(duckdb.Error),
            duckdb.connect(published_database(settings.data_dir), read_only=True) as connection,
        ):
            rows = connection.execute(query).fetchall()
            found |= {operator: ServiceDays(zone, cutoff) for operator, zone, cutoff in rows if zone}
    return found


def _rehearsed(data_dir: Path) -> Iterator[Rehearsal]:
    """Yield the time from the first rehearsed window to the last one, as their names say it."""
    names = [path.name for path in (*raw_files(data_dir), *all_lake_files(data_dir))]
    began = sorted(
        at.replace(tzinfo=UTC) for name in names if is_rehearsed(name) and (at := stamped_at(name))
    )
    if began:
        yield Rehearsal(began[0], began[-1])


def _days(data_dir: Path, operator: str) -> list[date]:
    """Return the UTC days of which there are raw answers of an operator, sorted."""
    found = set()
    for name in {partition_of(path)["date"] for path in raw_files(data_dir, operator)}:
        with suppress(ValueError):  # the name of a folder that is none of ours
            found.add(date.fromisoformat(name))
    return sorted(found)
