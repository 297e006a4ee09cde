"""The file of a store of the request budget: it can be damaged, and another can take its place."""

from contextlib import suppress
from pathlib import Path


class SqliteFile:
    """A SQLite file that is used by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._identity: tuple[int, int] | None = None

    def exists(self) -> bool:
        """Return whether there is a file of this name, as far as it can be told."""
        with suppress(OSError):
            return self._found() is not None
        return False

    def remember(self) -> None:
        """Note which file is used from now on."""
        self._identity = self._found()

    def is_replaced(self) -> bool:
        """Return whether the file that is used is no longer the one of this name."""
        return self._found() != self._identity

    def set_aside(self) -> None:
        """Rename a damaged file, and its journal, which must not be applied to the next file."""
        for ending in ("", "-journal", "-wal", "-shm"):
            path = self.path.with_name(self.path.name + ending)
            with suppress(FileNotFoundError):
                path.rename(path.with_name(f"{path.name}.damaged"))

    def _found(self) -> tuple[int, int] | None:
        try:
            status = self.path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return None
        return status.st_dev, status.st_ino
