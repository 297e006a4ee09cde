"""What exports are told: the published file, where they are written, who publishes them and how."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

NO_LICENCE = "not stated"
_LICENCES = "https://spdx.org/licenses/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSettings:
    """All that exports of a published file need to know: those of one `operator`, of maybe several in it.

    `folder` is served to readers; versions that were replaced are kept in `older_folder` for `keep_days`. The
    folders of `scratch_folder`, on the same file system, hold unfinished datasets, and the files of
    `locks_folder` the locks of who writes them. Without a `publisher` it is the operator. `address` is where
    `folder` is served, and `report_address` where the pages of reports are. `interface_url` is named by feeds
    that need an address where there is no `publisher_url`. `translate` returns English words of the published
    file in a language, as they are where it has no translation.
    """

    database: Path
    operator: str
    folder: Path
    older_folder: Path
    scratch_folder: Path
    locks_folder: Path
    keep_days: int
    publisher: str = ""
    publisher_url: str = ""
    interface_url: str = ""
    contact: str = ""
    licence: str = NO_LICENCE
    language: str = "und"
    translate: Callable[[str, str], str] = lambda words, _language: words
    address: str = ""
    report_address: str = ""

    def scratch(self, name: str) -> Path:
        """Return the folder in which a dataset is built; it is held by the lock of the same name."""
        return self.scratch_folder / name

    def lock(self, name: str) -> Path:
        """Return the file whose lock is held by who writes a dataset, or the catalogue of all."""
        return self.locks_folder / f"{name}.lock"


def licence_address(text: str) -> str | None:
    """Return the address of a licence: the text itself, or of SPDX's identifier; None for another text."""
    if re.match("https?://", text):
        return text
    return f"{_LICENCES}{text}" if re.fullmatch(r"[A-Za-z0-9.+-]+", text) else None
