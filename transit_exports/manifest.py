"""The manifest of an export: what it holds and of which version, and the checksum of every file."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from transit_base.errors import MISSHAPEN, TransitError
from transit_base.files import write_text

NAME, CHECKSUMS, README, PAGE = "manifest.json", "SHA256SUMS", "README.md", "index.html"
BESIDE = (NAME, CHECKSUMS)  # they list the other files


class ManifestError(TransitError):
    """The manifest of an export cannot be read; the message names it."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of an export: what it holds, its size and its SHA-256."""

    path: str
    table: str
    month: str
    n_rows: int
    n_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """All that is known of an export; `versions` are those of code, build, models and rulesets.

    `version` names its data, which came at `modified_at`, and stays when they are built again alike.
    `signature` is a digest of all that decides what the files say, apart from the rows. `notes` say what a
    reader of the format must know. `subject` is the name of the dataset without the format, `identifier` the
    one that persists. `bounds` are west, south, east and north in degrees (WGS 84). `errors` are those that a
    public validator found.
    """

    dataset: str
    title: str
    format: str
    media_type: str
    first_date: str
    last_date: str
    timezone: str
    is_complete: bool
    incomplete: Sequence[str]
    coverage: dict[str, Any]
    versions: dict[str, Any]
    published_at: str
    publisher: str
    licence: str
    tables: Sequence[dict[str, Any]]
    files: Sequence[File]
    signature: str
    notes: Sequence[str] = ()
    version: str = ""
    modified_at: str = ""
    subject: str = ""
    identifier: str = ""
    group: str = ""
    publisher_url: str = ""
    contact: str = ""
    keywords: Sequence[str] = ()
    bounds: Sequence[float] | None = None
    errors: Sequence[str] = ()

    @property
    def digest(self) -> str:
        """A digest of the data: of every file with rows."""
        return digest_of(self.files)

    @property
    def n_rows(self) -> int:
        """How many rows all files have."""
        return sum(file.n_rows for file in self.files)

    @property
    def n_data_bytes(self) -> int:
        """How large the files with rows are."""
        return sum(file.n_bytes for file in self.files if file.table)

    @property
    def n_bytes(self) -> int:
        """How large all files are."""
        return sum(file.n_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class Dataset:
    """What was exported of the same tables and dates, a manifest for each format."""

    subject: str
    formats: Sequence[Manifest]

    @property
    def newest(self) -> Manifest:
        """The format whose data are the newest."""
        return max(self.formats, key=lambda each: (each.modified_at, each.published_at))


_MANIFEST = TypeAdapter(Manifest)


def digest_of(files: Iterable[File]) -> str:
    """Return a digest of the files that have rows: their paths and checksums."""
    contents = [(file.path, file.sha256) for file in files if file.table]
    return hashlib.sha256(json.dumps(contents).encode()).hexdigest()


def described(folder: Path, path: str, table: str, month: str, n_rows: int) -> File:
    """Describe a file that was written."""
    file = folder / path
    return File(path, table, month, n_rows, file.stat().st_size, _sha256(file))


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write the manifest, and the checksums once more in the form of `sha256sum --check`."""
    text = json.dumps(asdict(manifest), ensure_ascii=False, indent=2)
    write_text(folder / NAME, f"{text}\n")
    write_text(folder / CHECKSUMS, "".join(f"{each.sha256}  {each.path}\n" for each in manifest.files))


def read_manifest(folder: Path) -> Manifest | None:
    """Read the manifest of an export; None if there is no export, ManifestError if it is damaged."""
    path = folder / NAME
    try:
        return _MANIFEST.validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except MISSHAPEN as error:
        raise ManifestError(f"{path} is damaged: export the dataset again") from error


def damage_of_export(folder: Path) -> list[str]:
    """Compare every file of an export with its manifest; say what is damaged, missing or too many."""
    try:
        manifest = read_manifest(folder)
    except ManifestError as error:
        return [str(error)]
    if manifest is None:
        return [f"{folder} has no {NAME}"]
    known = {file.path for file in manifest.files} | {*BESIDE}
    found = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    return [
        *(f"{folder / path} is missing" for path in sorted(known - found)),
        *(f"{folder / path} is not in the manifest" for path in sorted(found - known)),
        *_changed(folder, (file for file in manifest.files if file.path in found)),
    ]


def _changed(folder: Path, files: Iterable[File]) -> list[str]:
    return [
        f"{folder / file.path}: its SHA-256 is not the one of the manifest"
        for file in files
        if _sha256(folder / file.path) != file.sha256
    ]


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
