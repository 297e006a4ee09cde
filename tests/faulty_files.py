"""A layer between Python code and the disk: it counts calls, fails one of them, and shows a power loss.

It covers every call that Python code makes on what lies below one folder: open, read, write, sync, truncate,
lock, copy, list, look up, create, rename and remove, also through `pathlib`, `shutil` and file objects, such
as those that pyarrow is given to write to. It does not cover what libraries do in native code with a path of
their own: what DuckDB reads and writes, and what pyarrow reads. SQLite is not covered either.

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
# ruff: noqa: ANN401 - what stands in the place of a function of `os` takes and returns what that does

import builtins
import ctypes
import errno
import fcntl
import io
import os
import random
import stat
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

Tree = dict[str, bytes | None]  # path below the folder -> content; None for a folder

# Whether a call takes a path or an open file. Of two paths or files the last one counts.
_BY_PATH = ("stat", "lstat", "scandir", "listdir", "mkdir", "rmdir", "unlink", "remove", "truncate", "open")
_BY_TWO_PATHS = ("rename", "replace")
_BY_FILE = ("read", "write", "fsync", "ftruncate")
_ONLY_LOOKING = {"stat", "lstat", "scandir", "listdir", "read", "flock"}
_DELETED = " (deleted)"  # how Linux ends the path of an open file that was removed
_REAL: dict[str, Any] = {
    name: getattr(os, name) for name in (*_BY_PATH, *_BY_TWO_PATHS, *_BY_FILE, "copy_file_range")
} | {"io.open": io.open, "flock": fcntl.flock, "CDLL": ctypes.CDLL}


@dataclass(frozen=True)
class Fault:
    """The error of the `at`-th call, counted from 0, and whether all later calls fail too."""

    at: int
    number: int = errno.EIO
    lasts: bool = False

    def __str__(self) -> str:
        return f"{errno.errorcode[self.number]} at call {self.at}{' and after' if self.lasts else ''}"


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


@dataclass
class Promises:
    """What a step has said so far to have written, and to have made durable."""

    written: set[str] = field(default_factory=set)
    durable: set[str] = field(default_factory=set)


class FaultyFiles:
    """While entered, every call of this process on what is below a folder goes through this object.

    `calls` names each call made so far. With `losses` a list, each different state that a power loss could
    leave is put into it.
    """

    def __init__(
        self, root: Path, fault: Fault | None = None, losses: list[PowerLoss] | None = None, seed: int = 1
    ) -> None:
        self.calls: list[str] = []
        self.promises = Promises()
        self._root = str(root)
        self._fault = fault
        self._losses = losses
        self._random = random.Random(seed)  # noqa: S311 - not a secret
        self._disk = _Disk(root) if losses is not None else None
        self._lock = threading.RLock()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        enter = self._stack.enter_context
        for name in _BY_PATH:
            enter(patch.object(os, name, self._of_path(name)))
        for name in _BY_TWO_PATHS:
            enter(patch.object(os, name, self._of_two_paths(name)))
        for name in _BY_FILE:
            enter(patch.object(os, name, self._of_file(name)))
        enter(patch.object(os, "copy_file_range", self._copy_file_range))
        enter(patch.object(fcntl, "flock", self._of_file("flock")))
        enter(patch.object(ctypes, "CDLL", self._library))
        enter(patch.object(io, "open", self._open))
        enter(patch.object(builtins, "open", self._open))
        if self._disk is not None:
            self._stack.callback(self._disk.close)
        return self

    def __exit__(self, *_: object) -> None:
        self._look_for_losses()
        self._stack.close()

    def call(self, name: str, path: str, real: Callable[[], Any], *, is_named: bool = True) -> Any:
        """Count a call and make it, or let it fail; the error of a call on an open file names no file."""
        if not path.startswith(self._root):
            return real()
        with self._lock:
            number = len(self.calls)
            self.calls.append(f"{name} {os.path.relpath(path, self._root)}")
            if name not in _ONLY_LOOKING:
                self._look_for_losses()
            if self._fault is not None and (
                number == self._fault.at or (self._fault.lasts and number > self._fault.at)
            ):
                named = (path,) if is_named else ()
                raise OSError(self._fault.number, os.strerror(self._fault.number), *named)
            done = real()
            if self._disk is not None:
                self._disk.note(name, path)
            return done

    def write(self, path: str, write: Callable[[Any], int], data: Any) -> int:
        """Write, or write a half and fail, as a disk does that fills up."""
        try:
            done: int = self.call("write", path, lambda: write(data), is_named=False)
        except OSError as error:
            if error.filename is None:
                write(memoryview(data)[: len(data) // 2])
            raise
        return done

    def _of_path(self, name: str) -> Callable[..., Any]:
        real = _REAL[name]

        def made(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
            if isinstance(path, int):
                return self.call(name, _path_of(path), lambda: real(path, *args, **kwargs), is_named=False)
            where = _absolute(path, kwargs.get("dir_fd"))
            return self.call(name, where, lambda: real(path, *args, **kwargs))

        return made

    def _of_two_paths(self, name: str) -> Callable[..., Any]:
        def made(source: Any, target: Any, **kwargs: Any) -> Any:
            where = _absolute(target, kwargs.get("dst_dir_fd"))
            return self.call(name, where, lambda: _REAL[name](source, target, **kwargs))

        return made

    def _of_file(self, name: str) -> Callable[..., Any]:
        real = _REAL[name]

        def made(file: Any, *args: Any) -> Any:
            path = _path_of(file if isinstance(file, int) else file.fileno())
            if name == "write":
                return self.write(path, lambda data: real(file, data), *args)
            return self.call(name, path, lambda: real(file, *args), is_named=False)

        return made

    def _copy_file_range(self, source: int, target: int, *args: Any) -> Any:
        real = _REAL["copy_file_range"]
        return self.call(
            "copy_file_range", _path_of(target), lambda: real(source, target, *args), is_named=False
        )

    def _library(self, name: str | None, **kwargs: Any) -> Any:
        library = _REAL["CDLL"](name, **kwargs)
        return _Library(self, library) if name is None else library

    def _open(self, file: Any, mode: str = "r", buffering: int = -1, *args: Any, **kwargs: Any) -> Any:
        where = _path_of(file) if isinstance(file, int) else _absolute(file, None)
        if not where.startswith(self._root):
            return _REAL["io.open"](file, mode, buffering, *args, **kwargs)
        flags = mode.replace("b", "").replace("t", "")
        files = {key: kwargs.pop(key) for key in ("closefd", "opener") if key in kwargs}

        def opened() -> _File:
            return _File(self, where, file, flags, **files)

        raw = opened() if isinstance(file, int) else self.call("open", where, opened)
        if buffering == 0:
            return raw
        buffered: Any = io.BufferedReader(raw) if flags == "r" else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, *args, **kwargs)

    def _look_for_losses(self) -> None:
        if self._losses is None or self._disk is None:
            return
        for kind, tree in self._disk.trees(self._random):
            loss = PowerLoss(len(self.calls), kind, tree, frozenset(self.promises.durable))
            if not any(_is_same(loss, other) for other in self._losses):
                self._losses.append(loss)


class _File(io.FileIO):
    """An open file whose reads and writes are counted."""

    def __init__(self, files: FaultyFiles, path: str, file: Any, mode: str, **kwargs: Any) -> None:
        super().__init__(file, mode, **kwargs)
        self._files = files
        self._path = path

    def readinto(self, buffer: Any) -> int | None:
        read = super().readinto
        done: int | None = self._files.call("read", self._path, lambda: read(buffer), is_named=False)
        return done

    def readall(self) -> bytes:
        read = super().readall
        done: bytes = self._files.call("read", self._path, read, is_named=False)
        return done

    def write(self, data: Any) -> int:
        return self._files.write(self._path, super().write, data)


class _Library:
    """The C library, whose renames are counted."""

    def __init__(self, files: FaultyFiles, library: Any) -> None:
        self._files = files
        self._library = library

    def renameat2(self, folder: int, source: bytes, to_folder: int, target: bytes, flags: int) -> int:
        def real() -> int:
            done: int = self._library.renameat2(folder, source, to_folder, target, flags)
            return done

        try:
            done: int = self._files.call("renameat2", os.fsdecode(target), real)
        except OSError as error:
            ctypes.set_errno(error.errno or errno.EIO)
            return -1
        return done


class _Disk:
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
                tree[path] = _bytes_of(self._paths[folder] / name)
            elif self._kinds[inode]:
                tree[path] = None
                self._add(tree, f"{path}/", inode, keeps_names, keeps_data)
            else:
                tree[path] = _bytes_of(self._paths[inode]) if keeps_data() else self._contents[inode]


def _is_same(one: PowerLoss, other: PowerLoss) -> bool:
    return one.promises == other.promises and one.tree == other.tree


def _absolute(path: Any, folder: int | None) -> str:
    return os.path.join(_path_of(folder) if folder is not None else os.getcwd(), os.fsdecode(path))  # noqa: PTH109, PTH118


def _path_of(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115


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
