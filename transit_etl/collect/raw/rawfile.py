"""Writes and reads one raw file: zstd-compressed lines, each complete or missing after a crash."""

import fcntl
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import zstandard

from transit_base.errors import TransitError
from transit_base.files import FILE_MODE, make_folder, open_atomic, rename, sync_folder
from transit_etl.paths import intents_file, open_raw_file

_CHUNK_BYTES = 65_536
_LEVEL = 3


class DataFolderError(TransitError):
    """The data folder cannot be written; the message names the folder and the system's reason."""

    def __init__(self, folder: Path, error: OSError) -> None:
        self.folder, self.reason = folder, error.strerror or str(error)
        super().__init__(f"cannot write in the data folder {folder}: {self.reason}")


class RawFileTakenError(Exception):
    """Another writer has, or had, a window of this name."""


class RawWriter:
    """The open files of one window: `<window>.jsonl.zst.part`, and the intents in a file of their own.

    The writer locks the part file until it ends, so that recovery can tell a window whose writer was killed.
    A line has been written to the operating system when the call returns; `sync` makes it durable.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.n_rows = 0
        self._part = open_raw_file(path)
        self._planned = intents_file(path)
        self._lock = threading.Lock()
        self._is_dirty = False
        self._failure: OSError | None = None
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compressobj()
        self._size = 0
        self._part_fd = self._planned_fd = -1
        try:
            self._create()
        except BaseException:
            self._close()
            raise

    def plan(self, line: bytes) -> None:
        """Write an intent, before its request is sent."""
        self._raise_failure()
        _write_all(self._planned_fd, line)
        self._is_dirty = True

    def append(self, line: bytes) -> None:
        """Write a row. After a failure the file ends with the last whole row, and further calls fail too."""
        self._raise_failure()
        block = self._compressor.compress(line) + self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        self._write_block(block)
        self.n_rows += 1

    def sync(self) -> None:
        """Make everything written durable; safe to call from another thread."""
        with self._lock:
            if not self._is_dirty or self._part_fd < 0:
                return
            self._is_dirty = False
            try:
                os.fsync(self._planned_fd)
                os.fsync(self._part_fd)
            except OSError as error:
                self._failure = self._failure or error

    def finalise(self) -> Path | None:
        """Complete the file and give it its final name, or remove an empty one; always release the lock."""
        try:
            self._raise_failure()
            if self.n_rows:
                return self._publish()
            self._planned.unlink(missing_ok=True)
            self._part.unlink(missing_ok=True)
            return None
        finally:
            self._close()

    def _create(self) -> None:
        """Create both files and lock the part; RawFileTakenError if a recovery was faster between the two."""
        if self.path.exists() or self._planned.exists():
            raise RawFileTakenError(self.path.name)
        try:
            self._part_fd = os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE)
        except FileExistsError as error:
            raise RawFileTakenError(self.path.name) from error
        if not (lock(self._part_fd) and is_same_file(self._part_fd, self._part)):
            raise RawFileTakenError(self.path.name)
        self._planned_fd = os.open(self._planned, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE_MODE)
        sync_folder(self.path.parent)

    def _write_block(self, block: bytes) -> None:
        try:
            _write_all(self._part_fd, block)
        except OSError as error:
            self._failure = error
            os.ftruncate(self._part_fd, self._size)
            raise
        self._size += len(block)
        self._is_dirty = True

    def _publish(self) -> Path:
        self._write_block(self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH))
        os.fsync(self._part_fd)
        rename(self._part, self.path)
        self._planned.unlink(missing_ok=True)
        return self.path

    def _close(self) -> None:
        with self._lock:
            for descriptor in (self._planned_fd, self._part_fd):
                if descriptor >= 0:
                    os.close(descriptor)
            self._part_fd = self._planned_fd = -1

    def _raise_failure(self) -> None:
        """Raise the first failure to write: after it nothing more belongs into these files."""
        if self._failure is not None:
            raise self._failure


def read_lines(path: Path) -> Iterator[bytes]:
    """Yield the whole lines of a raw file, without line ends, up to where it ends or is damaged."""
    rest = b""
    for piece in _decoded(path):
        *lines, rest = (rest + piece).split(b"\n")
        yield from lines


def complete_lines(path: Path) -> list[bytes]:
    """Return the whole lines of an uncompressed file; what follows the last line end is left out."""
    return path.read_bytes().split(b"\n")[:-1]


def write_finished(path: Path, lines: list[bytes]) -> None:
    """Write lines (with their ends) as a finished raw file, which appears whole."""
    compressor = zstandard.ZstdCompressor(level=_LEVEL, write_checksum=True).compressobj()
    with open_atomic(path) as file:
        for line in lines:
            file.write(compressor.compress(line))
        file.write(compressor.flush())


def lock(fd: int) -> bool:
    """Take the writer's lock on an open file unless it is held elsewhere; return whether it was taken."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_same_file(fd: int, path: Path) -> bool:
    """Return whether a path still names the file that was opened."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def check_writable(folder: Path) -> None:
    """Create the data folder if it is missing and write a file in it; DataFolderError if that fails."""
    trial = folder / f".trial-{os.getpid()}"
    try:
        make_folder(folder)
        trial.write_bytes(b"1")
        trial.unlink()
    except OSError as error:
        raise DataFolderError(folder, error) from error


def _decoded(path: Path) -> Iterator[bytes]:
    decompressor = zstandard.ZstdDecompressor().decompressobj()
    n_good = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            try:
                piece = decompressor.decompress(chunk)
            except zstandard.ZstdError:
                yield from _until_damage(path, n_good)
                return
            n_good += len(chunk)
            yield piece
            if decompressor.eof:
                return


def _until_damage(path: Path, n_good: int) -> Iterator[bytes]:
    """Decode the damaged chunk again byte by byte: a decoder that fails returns nothing of its input."""
    decompressor = zstandard.ZstdDecompressor().decompressobj()
    with path.open("rb") as file:
        decompressor.decompress(file.read(n_good))
        while byte := file.read(1):
            try:
                yield decompressor.decompress(byte)
            except zstandard.ZstdError:
                return


def _write_all(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]
