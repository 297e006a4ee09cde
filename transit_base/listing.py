"""Lists files and folders by patterns of their names, level by level."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fnmatch import filter as matching
from pathlib import Path

_passed_over: ContextVar[dict[Path, OSError] | None] = ContextVar("passed_over", default=None)


@contextmanager
def passing_over() -> Iterator[dict[Path, OSError]]:
    """Let who lists and reads go on without what cannot be; yield that, and why, as it is met.

    It is for who names it, and takes nothing below a folder that cannot be listed for missing.
    """
    found: dict[Path, OSError] = {}
    token = _passed_over.set(found)
    try:
        yield found
    finally:
        _passed_over.reset(token)


def listed(folder: Path, *patterns: str) -> Iterator[Path]:
    """Yield what is below a folder, unordered: its name, and that of each folder above it, has a pattern.

    Unlike Path.glob it raises PermissionError: what cannot be listed must not count as missing.
    """
    if not patterns:
        yield folder
        return
    first, *others = patterns
    names: list[str] = []
    with _listing(folder):
        if "*" in first:
            names = matching(os.listdir(folder), first)  # noqa: PTH208 - names alone
        elif (folder / first).exists():
            names = [first]
    for name in names:
        yield from listed(folder / name, *others)


def files_below(folder: Path, *patterns: str, are_folders: bool = False) -> Iterator[Path]:
    """Yield files as `listed` does; or the folders that stand where such files belong."""
    *above, last = patterns
    for parent in listed(folder, *above):
        names: list[str] = []
        with _listing(parent), os.scandir(parent) as entries:
            names = [entry.name for entry in entries if _is_folder(entry) == are_folders]
        yield from (parent / name for name in matching(names, last))


@contextmanager
def _listing(folder: Path) -> Iterator[None]:
    """Let a folder that is not there hold nothing; pass over one that cannot be listed, if that is asked."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        if not pass_over(folder, error):
            raise


def pass_over(path: Path, error: OSError) -> bool:
    """Note what cannot be listed or read, and why, for who passes over it; tell whether anyone does."""
    passed_over = _passed_over.get()
    if passed_over is not None:
        passed_over[path] = error
    return passed_over is not None


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    """Tell whether an entry is a folder; a link that leads nowhere is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False
