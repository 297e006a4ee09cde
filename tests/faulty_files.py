"""A layer between Python code and the disk: it counts calls, fails one of them, and shows a power loss.

It covers every call that Python code makes on what lies below one folder: open, read, write, sync, truncate,
lock, copy, list, look up, create, rename and remove, also through `pathlib`, `shutil` and file objects, such
as those that pyarrow is given to write to. It does not cover what libraries do in native code with a path of
their own: what DuckDB reads and writes, and what pyarrow reads. SQLite is not covered either.

What a power loss leaves is told by `tests.power_loss`.
"""
# ruff: noqa: ANN401 - what stands in the place of a function of `os` takes and returns what that does

import builtins
import ctypes
import errno
import fcntl
import io
import os
import random
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from unittest.mock import patch

from tests.power_loss import Disk, PowerLoss, is_same

# Whether a call takes a path or an open file. Of two paths or files the last one counts.
_BY_PATH = ("stat", "lstat", "scandir", "listdir", "mkdir", "rmdir", "unlink", "remove", "truncate", "open")
_BY_TWO_PATHS = ("rename", "replace")
_BY_FILE = ("read", "write", "fsync", "ftruncate")
_ONLY_LOOKING = {"stat", "lstat", "scandir", "listdir", "read", "flock"}
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
        self._disk = Disk(root) if losses is not None else None
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
            if not any(is_same(loss, other) for other in self._losses):
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


def _absolute(path: Any, folder: int | None) -> str:
    return os.path.join(_path_of(folder) if folder is not None else os.getcwd(), os.fsdecode(path))  # noqa: PTH109, PTH118


def _path_of(descriptor: int) -> str:
    return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115
