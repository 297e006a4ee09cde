"""What a disk holds after a power loss at any moment, from the calls that were made on it.

A power loss keeps what was synced: of a file the bytes that it had at its last fsync, of a folder the names
that it had at its last fsync. What was there when the layer was entered counts as synced, and so does a file
that no Python code opened for writing. Real file systems keep more than that, in an order of their own; three
kinds of loss stand for them:

- `nothing unsynced`: the least that a disk may keep.
- `names only`: every name created, renamed or removed is kept, data only where it was synced. This is
  how a renamed file is found empty.
- `some of it`: each folder and file as of its last sync, or as it is at that moment, at random.

Not covered: a folder with some of its unsynced names, a file with some of its unsynced bytes, disks that lose
what they said was synced.
"""

import io
import os
import random
import stat
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Tree = dict[str, bytes | None]  # path below the folder -> content; None for a folder

_DELETED = " (deleted)"  # how Linux ends the path of an open file that was removed
# What `tests.faulty_files` replaces while it is entered.
_REAL: dict[str, Any] = {"open": os.open, "stat": os.stat, "scandir": os.scandir, "io.open": io.open}


@dataclass(frozen=True)
class PowerLoss:
    """What a disk holds after a power loss, and what had been promised to be durable by then."""

    at: int
    kind: str
    tree: Tree
    promises: frozenset[str]

    def restore(self, folder: Path) -> None:
        """Write what the disk holds into a folder."""
        folder.mkdir(parents=True)
        for name, content in self.tree.items():
            if content is None:
                (folder / name).mkdir()
            else:
                (folder / name).write_bytes(content)


class Disk:
    """What is durable below a folder: the names in each folder, and the content of each file, by inode."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._held: list[int] = []  # open files, so that no inode's number is given to another file
        self._contents: dict[int, bytes] = {}  # of the files that Python code has written
        self._names: dict[int, dict[str, int]] = {}
        self._paths: dict[int, Path] = {}
        self._kinds: dict[int, bool] = {}  # whether an inode is a folder
        for folder in [root, *_below(root)]:
            self._hold(folder)
        for folder in [root, *_below(root)]:
            if folder.is_dir():
                self._names[_inode(folder)] = _names_in(folder)
            else:
                self._contents[_inode(folder)] = folder.read_bytes()

    def close(self) -> None:
        """Let go of the files that were held."""
        for descriptor in self._held:
            os.close(descriptor)

    def note(self, name: str, path: str) -> None:
        """Take note of a call that was made."""
        place = Path(path)
        if name in ("mkdir", "open") and _inode(place) not in self._kinds:
            self._hold(place)
            if self._kinds[_inode(place)]:
                self._names[_inode(place)] = {}
            else:
                self._contents[_inode(place)] = b""
        elif name == "fsync" and not path.endswith(_DELETED):
            self._synced(place)

    def trees(self, chance: random.Random) -> Iterable[tuple[str, Tree]]:
        """Yield each kind of loss, and what it leaves."""
        yield "nothing unsynced", self._tree(lambda: False, lambda: False)
        yield "names only", self._tree(lambda: True, lambda: False)
        yield "some of it", self._tree(lambda: chance.random() < 0.5, lambda: chance.random() < 0.5)

    def _synced(self, place: Path) -> None:
        inode = _inode(place)
        if self._kinds[inode]:
            self._names[inode] = _names_in(place)
        else:
            self._contents[inode] = _bytes_of(place)

    def _hold(self, path: Path) -> None:
        descriptor = _REAL["open"](path, os.O_PATH)
        self._held.append(descriptor)
        self._kinds[_inode(path)] = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        self._paths[_inode(path)] = Path(f"/proc/self/fd/{descriptor}")

    def _tree(self, keeps_names: Callable[[], bool], keeps_data: Callable[[], bool]) -> Tree:
        tree: Tree = {}
        self._add(tree, "", _inode(self._root), keeps_names, keeps_data)
        return tree

    def _add(
        self,
        tree: Tree,
        prefix: str,
        folder: int,
        keeps_names: Callable[[], bool],
        keeps_data: Callable[[], bool],
    ) -> None:
        names = _names_in(self._paths[folder]) if keeps_names() else self._names[folder]
        for name, inode in sorted(names.items()):
            path = f"{prefix}{name}"
            if inode not in self._kinds:  # written by native code
                with suppress(FileNotFoundError):  # DuckDB has removed its log since then
                    tree[path] = _bytes_of(self._paths[folder] / name)
            elif self._kinds[inode]:
                tree[path] = None
                self._add(tree, f"{path}/", inode, keeps_names, keeps_data)
            else:
                tree[path] = _bytes_of(self._paths[inode]) if keeps_data() else self._contents[inode]


def is_same(one: PowerLoss, other: PowerLoss) -> bool:
    """Tell whether two losses leave the same after the same promises."""
    return one.promises == other.promises and one.tree == other.tree


def _inode(path: Path) -> int:
    inode: int = _REAL["stat"](path).st_ino
    return inode


def _below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def _names_in(folder: Path) -> dict[str, int]:
    with _REAL["scandir"](folder) as entries:
        return {entry.name: entry.inode() for entry in entries}


def _bytes_of(path: Path) -> bytes:
    with _REAL["io.open"](path, "rb") as file:
        content: bytes = file.read()
    return content
