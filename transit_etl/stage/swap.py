"""Exchanges two folders in one step, so that a reader finds the one or the other and never neither."""

import ctypes
import errno
import os
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def exchange(first: Path, second: Path) -> None:
    """Give each of two folders the other's name, atomically where the system can (Linux, renameat2).

    Elsewhere the folders change places by three renames, and for the moment between two of them `second`
    is missing; nothing is lost, and a reader that starts in that moment sees the other days only.
    """
    try:
        _exchange_at_once(first, second)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EINVAL):
            raise
        _exchange_in_steps(first, second)


def restore(second: Path) -> None:
    """Finish what a run killed between the three renames left undone."""
    if not second.exists() and _aside(second).exists():
        _aside(second).rename(second)


def _exchange_at_once(first: Path, second: Path) -> None:
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        raise OSError(errno.ENOSYS, "no renameat2")
    if rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(first))


def _exchange_in_steps(first: Path, second: Path) -> None:
    aside = _aside(second)
    second.rename(aside)
    first.rename(second)
    aside.rename(first)


def _aside(place: Path) -> Path:
    return place.with_name(f".{place.name}.aside")
