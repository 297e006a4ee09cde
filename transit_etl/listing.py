"""Lists files and folders by patterns of their names, level by level."""

import os
from collections.abc import Iterator
from contextlib import suppress
from fnmatch import filter as matching
from pathlib import Path


def listed(folder: Path, *patterns: str) -> Iterator[Path]:
    """Yield what is below a folder, unordered: its name, and that of each folder above it, has a pattern.

    Unlike Path.glob it raises PermissionError: what cannot be listed must not count as missing.
    """
    if not patterns:
        yield folder
        return
    first, *others = patterns
    try:
        names = matching(os.listdir(folder), first) if "*" in first else [first]  # noqa: PTH208 - names alone
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        if "*" in first or (folder / name).exists():
            yield from listed(folder / name, *others)


def files_below(folder: Path, *patterns: str, are_folders: bool = False) -> Iterator[Path]:
    """Yield files as `listed` does; or the folders that stand where such files belong."""
    *above, last = patterns
    for parent in listed(folder, *above):
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(parent) as entries:
            names = [entry.name for entry in entries if _is_folder(entry) == are_folders]
            yield from (parent / name for name in matching(names, last))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    """Tell whether an entry is a folder; a link that leads nowhere is none."""
    try:
        return entry.is_dir()
    except OSError:
        return False
