"""Runs a step of `tests.disk_steps` on a disk that fails or loses power, and says what is wrong then."""

import errno
import logging
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.disk_steps import ReportedError, Step, View, settings_at
from tests.faulty_files import Fault, FaultyFiles
from tests.power_loss import PowerLoss
from transit_base.errors import TransitError

ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES)


@dataclass(frozen=True)
class Undisturbed:
    """A step without a fault: the data folder before it, what readers find before and after it, its calls.

    `losses` are the different states that a power loss can leave.
    """

    step: Step
    prepared: Path
    before: View
    after: View
    calls: list[str]
    losses: list[PowerLoss]
    scratch: "TemporaryDirectory[str]"  # removed with the last reference to it


@cache
def undisturbed(step: Step) -> Undisturbed:
    """Prepare a step and run it once without a fault."""
    scratch = TemporaryDirectory(prefix="disk-")
    folder = Path(scratch.name)
    step.prepare(folder / "prepared")
    losses: list[PowerLoss] = []
    run = Path(shutil.copytree(folder / "prepared", folder / "run"))
    settings = settings_at(run)
    with FaultyFiles(run, losses=losses) as files:
        step.run(settings, files.promises)
    before, after = step.view(folder / "prepared"), step.view(run)
    return Undisturbed(step, folder / "prepared", before, after, files.calls, losses, scratch)


def problems_with(step: Step, faults: Iterable[Fault], folder: Path) -> list[str]:
    """Run a step with each fault on a copy of its data folder, and return what is wrong."""
    trial = _Trial(undisturbed(step))
    found = []
    for fault in faults:
        data = folder / str(fault).replace(" ", "-")
        problem = trial.problem_with(fault, data)
        shutil.rmtree(data)
        if problem:
            found.append(problem)
    return found


def problems_after(step: Step, losses: Iterable[PowerLoss], folder: Path) -> list[str]:
    """Run a step on what each power loss left, and return what is wrong."""
    plain = undisturbed(step)
    found = []
    for loss in losses:
        data = folder / f"{loss.kind}-{loss.at}".replace(" ", "-")
        loss.restore(data)
        problem = _torn_place(plain, data) or _problem_after_repeating(plain, data, loss.promises)
        shutil.rmtree(data)
        if problem:
            found.append(f"{loss.kind}, before call {loss.at}: {problem}")
    return found


class _Trial:
    """Runs one step with faults. A state that was repaired once is not repaired again, to save time."""

    def __init__(self, plain: Undisturbed) -> None:
        self._plain = plain
        self._repaired: set[int] = set()

    def problem_with(self, fault: Fault, data: Path) -> str | None:
        """Run the step with a fault, then without, and say what is wrong about either."""
        shutil.copytree(self._plain.prepared, data)
        settings = settings_at(data)
        lines: list[str] = []
        other: Exception | None = None
        with FaultyFiles(data, fault) as files, _warnings_in(lines):
            try:
                self._plain.step.run(settings, files.promises)
            except ReportedError as error:
                lines.extend(error.errors)
            except TransitError as error:
                lines.append(str(error))
            except OSError as error:
                lines.append(str(error) if error.filename else f"{error!r} names no file\n")
            except Exception as error:  # noqa: BLE001 - that is what is looked for
                other = error
        problem = repr(other) if other else self._problem_left(data, lines, files.promises.written)
        return problem and f"{fault}, {files.calls[fault.at]}: {problem}"

    def _problem_left(self, data: Path, lines: list[str], promised: Iterable[str]) -> str | None:
        if any("\n" in line for line in lines):
            return f"not one clear line: {lines}"
        if not lines and self._plain.after != self._plain.step.view(data):
            return "the step says that it is done, and it is not"
        if torn := _torn_place(self._plain, data):
            return torn
        state = hash((frozenset(promised), *_contents(data)))
        problem = None if state in self._repaired else _problem_after_repeating(self._plain, data, promised)
        self._repaired.add(state)
        return problem


def _torn_place(plain: Undisturbed, data: Path) -> str | None:
    """Name a place that readers find neither as it was before the step nor as it is after it."""
    found = plain.step.view(data)
    for place in {**plain.before, **plain.after, **found}:
        if found.get(place) not in (plain.before.get(place), plain.after.get(place)):
            return f"neither old nor new: {place}"
    return None


def _problem_after_repeating(plain: Undisturbed, data: Path, promised: Iterable[str]) -> str | None:
    plain.step.repeat(data)
    found = plain.step.view(data)
    for place in {**plain.after, **found}:
        if found.get(place) != plain.after.get(place):
            return f"not the same after running again: {place}"
    lost = set(promised) - plain.step.kept(data)
    return f"lost: {lost}" if lost else None


def _contents(folder: Path) -> list[tuple[str, bytes | None]]:
    return [
        (str(path.relative_to(folder)), path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
    ]


@contextmanager
def _warnings_in(lines: list[str]) -> Iterator[None]:
    """Add the warnings of the pipeline to some lines."""
    handler = _Lines(lines)
    logger = logging.getLogger("transit_etl")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _Lines(logging.Handler):
    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._lines = lines

    def emit(self, record: logging.LogRecord) -> None:
        self._lines.append(record.getMessage())
