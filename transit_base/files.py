"""Writes and locks files, and replaces folders: a reader finds all of one or nothing, also after a crash."""

import ctypes
import errno
import fcntl
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_COPIED_AT_ONCE = 1 << 30  # bytes
FILE_MODE, FOLDER_MODE = 0o640, 0o750  # at most: the umask takes more away
_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


@contextmanager
def open_atomic(path: Path, *, temporary: Path | None = None) -> Iterator[BinaryIO]:
    """Open a new file that takes its name, durably, when the context ends without an error.

    Until then it is `temporary`, in the same folder: by default one name per path, so that a file left by a
    killed process is overwritten by the next. Processes that may write one path at the same time each give
    a name of their own. The folder is made if need be.
    """
    temporary = temporary or unfinished_name(path)
    make_folder(path.parent)
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
        with named_in_errors(path), os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        rename(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def in_words(error: OSError) -> str:
    """Say an error of the system in one line, without its number, and what to do where that is known."""
    path = error.filename if error.filename2 is None else error.filename2
    if isinstance(error, IsADirectoryError) and path is not None:
        return misplaced_text(path)
    if isinstance(error, NotADirectoryError) and path is not None:
        return f"{path}: a file is where a folder belongs: move it away"
    if isinstance(error, FileNotFoundError) and path is not None and Path(path).is_symlink():
        return f"{path} is a link that leads nowhere: remove it, or bring back what it leads to"
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}"


def passed_over_texts(passed_over: Mapping[Path, OSError]) -> list[str]:
    """Say of each file or folder why it cannot be read or listed."""
    return [
        in_words(type(error)(error.errno, error.strerror, str(path))) for path, error in passed_over.items()
    ]


def misplaced_text(path: Path | str) -> str:
    """Say that a folder has the name of a file, and what to do about it."""
    return f"{path} is a folder where a file belongs: move it away"


@contextmanager
def replaced_atomically(path: Path) -> Iterator[Path]:
    """Yield the name of a file for another program to make; it takes its name as that of `open_atomic` does.

    What a killed process left under the name is removed before. Whoever makes the file gives it its mode.
    """
    temporary = unfinished_name(path)
    make_folder(path.parent)
    temporary.unlink(missing_ok=True)
    try:
        yield temporary
        with temporary.open("rb") as file, named_in_errors(path):
            os.fsync(file.fileno())
        rename(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def unfinished_name(path: Path) -> Path:
    """Return the name that a file has until it is whole."""
    return path.with_name(f"{path.name}.new")


@contextmanager
def named_in_errors(path: Path) -> Iterator[None]:
    """Let an OSError that names no file, as of a write to a full disk, name this one."""
    try:
        yield
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise


def copy_bytes(source: Path, target: Path) -> None:
    """Copy a file within the kernel, which shares its blocks where the file system can."""
    with source.open("rb") as reader, target.open("wb") as writer, named_in_errors(target):
        left = os.fstat(reader.fileno()).st_size
        while left > 0:
            left -= os.copy_file_range(reader.fileno(), writer.fileno(), min(left, _COPIED_AT_ONCE))


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8 so that readers see the old one or the new one, never a part."""
    with open_atomic(path) as file:
        file.write(text.encode())


def write_changed(path: Path, text: str) -> bool:
    """Write a text file if its text is another, and tell whether it was."""
    try:
        if path.read_text("utf-8") == text:
            return False
    except (FileNotFoundError, UnicodeDecodeError):
        pass
    write_text(path, text)
    return True


def rename(source: Path, target: Path) -> None:
    """Give a file or folder another name in the same folder, durably; a file of that name is replaced."""
    source.rename(target)
    sync_folder(target.parent)


@contextmanager
def locked(path: Path, *, waits: bool = True) -> Iterator[int]:
    """Hold the lock of a file, which is made if need be, against every process of this machine.

    Yields the file's descriptor: a child process that inherits it keeps the lock, even if this process is
    killed. If another process has the lock, it waits or raises BlockingIOError.
    """
    make_folder(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, FILE_MODE)
    try:
        with named_in_errors(path):
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        yield descriptor
    finally:
        os.close(descriptor)


def make_folder(folder: Path) -> None:
    """Create a folder and those above it, each name durable."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(FOLDER_MODE, exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Make names created, renamed or removed in a folder durable."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with named_in_errors(folder):
            os.fsync(fd)
    finally:
        os.close(fd)


def sync_tree(folder: Path) -> None:
    """Make durable what another program has written below a folder."""
    for path in folder.rglob("*"):
        if path.is_dir():
            sync_folder(path)
        else:
            with path.open("rb") as file, named_in_errors(path):
                os.fsync(file.fileno())
    sync_folder(folder)


def replacement_of(folder: Path) -> Path:
    """Name the folder in which a folder's replacement is built: on the same disk, seen by no reader."""
    return folder.with_name(f".replacement-{folder.name}")


def replace_folder(built: Path, folder: Path) -> None:
    """Put a finished folder in the place of another (or of none) in one step, and remove the old one."""
    make_folder(folder.parent)
    if folder.exists():
        exchange_folders(built, folder)
        sync_folder(folder.parent)
        shutil.rmtree(built)
        sync_folder(folder.parent)
    else:
        rename(built, folder)


def remove_folder(folder: Path) -> None:
    """Take a folder away from its readers in one step, then remove it."""
    if folder.exists():
        clear_away(replacement_of(folder))
        rename(folder, replacement_of(folder))
        shutil.rmtree(replacement_of(folder))
        sync_folder(folder.parent)


def repair_folder(folder: Path) -> None:
    """Finish or clear away what a process left that was killed while it replaced a folder."""
    if not folder.exists() and _aside(folder).exists():
        rename(_aside(folder), folder)
    clear_away(replacement_of(folder))


def clear_away(folder: Path) -> None:
    """Remove a folder that no reader sees, if it is there, or raise: what stays would get into the next."""
    if folder.exists():
        shutil.rmtree(folder)


def exchange_folders(first: Path, second: Path) -> None:
    """Give each of two folders the other's name, atomically where the system can (Linux, renameat2).

    Elsewhere three renames do it, and between two of them `second` is missing for a moment: a reader that
    starts in that moment does not see it. Nothing is lost; `repair_folder` finishes an exchange cut short.
    """
    try:
        _exchange_at_once(first, second)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EINVAL):
            raise
        _exchange_in_steps(first, second)


def _exchange_at_once(first: Path, second: Path) -> None:
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if renameat2 is None:
        raise OSError(errno.ENOSYS, "no renameat2")
    if renameat2(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(first))


def _exchange_in_steps(first: Path, second: Path) -> None:
    aside = _aside(second)
    second.rename(aside)
    first.rename(second)
    aside.rename(first)


def _aside(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.aside")
