"""Checks that no file of an installation has changed by itself, by a list of checksums."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from transit_etl.checksums import CHANGED, Entry, entry_of, read_checksums, write_checksums
from transit_etl.files import misplaced_text
from transit_etl.identity import claim, operators_settings
from transit_etl.lake_reading import damage_of
from transit_etl.paths import (
    all_lake_files,
    checksum_list,
    detail_files,
    lake_dir,
    misplaced_folders,
    published_database,
    quarantine_files,
    raw_dir,
    raw_files,
)
from transit_etl.settings import Settings
from transit_etl.stage.raw import RawFileError, check_whole
from transit_etl.stage.repair import repair


@dataclass(slots=True)
class VerificationReport:
    """What was checked. `damaged` and `missing` name what cannot be made again, `repaired` what was.

    `n_new` files were not in the checksum list, or were replaced since: they were read to their end, and
    their checksums are compared from now on.
    """

    n_files: int = 0
    n_new: int = 0
    n_bytes: int = 0
    damaged: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    repaired: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def is_failure(self) -> bool:
        """Whether anything was lost that cannot be made again."""
        return bool(self.damaged or self.missing)


def verify(settings: Settings, *, repairs: bool = True) -> VerificationReport:
    """Check every file of raw, lake, quarantine and the published warehouse; make damaged lake files again.

    A file that was checked before must have the same SHA-256 unless it was replaced, which raw files never
    are; a new one must be readable to its end. Raw files must not disappear. A damaged export is a warning.
    """
    claim(settings)
    root, report = settings.data_dir, VerificationReport()
    entries, n_damaged_lines = read_checksums(checksum_list(root))
    if n_damaged_lines:
        report.warnings = [f"{checksum_list(root)} is damaged: some files count as new"]
    found: dict[str, Entry] = {}
    damaged: dict[Path, str] = {}
    for path in _files(root):
        try:
            entry = entry_of(root, path)
        except FileNotFoundError:
            continue  # merged or replaced since it was listed
        known = entries.get(entry.path)
        if known is not None and _must_be_same(root, path, known, entry):
            damage = None if known.sha256 == entry.sha256 else CHANGED
            entry = known
        else:
            damage = _damage_of(path)
            report.n_new += 1
        if damage:
            damaged[path] = damage
        found[entry.path] = entry
        report.n_files += 1
        report.n_bytes += entry.size_bytes
    lost = {
        path: entry for path, entry in entries.items() if path not in found and _is_raw(root, root / path)
    }
    report.missing = sorted(lost)
    if repairs:
        _repair_lake(settings, damaged, found, report)
    report.damaged = [f"{path}: {damage}" for path, damage in damaged.items()]
    report.damaged += map(misplaced_text, misplaced_folders(root))
    report.warnings += _damaged_exports(settings)
    write_checksums(checksum_list(root), found | lost)
    return report


def _damaged_exports(settings: Settings) -> list[str]:
    """Say which exported files are not those of their manifests; they can be exported again."""
    # `status` and `check` start without exports
    from transit_etl.export_settings import export_settings  # noqa: PLC0415
    from transit_exports import damage_of_export  # noqa: PLC0415

    folders = {
        folder
        for each in operators_settings(settings)
        for folder in export_settings(each).folder.glob("[!.]*/")
    }
    return [f"{damage}: export it again" for folder in sorted(folders) for damage in damage_of_export(folder)]


def _files(root: Path) -> Iterator[Path]:
    """List what is verified, sorted by folder: finished files alone."""
    yield from sorted(raw_files(root))
    yield from all_lake_files(root)
    yield from quarantine_files(root)
    yield from detail_files(root)
    if published_database(root).is_file():
        yield published_database(root)


def _must_be_same(root: Path, path: Path, known: Entry, entry: Entry) -> bool:
    is_untouched = (known.size_bytes, known.modified_ns) == (entry.size_bytes, entry.modified_ns)
    return is_untouched or _is_raw(root, path)


def _is_raw(root: Path, path: Path) -> bool:
    return path.is_relative_to(raw_dir(root))


def _damage_of(path: Path) -> str | None:
    """Read a file that is new to its end; return what is wrong with it."""
    if path.suffix == ".parquet":
        return damage_of(path)
    if path.suffix == ".zst":
        try:
            check_whole(path)
        except RawFileError as error:
            return str(error)
    return None


def _repair_lake(
    settings: Settings, damaged: dict[Path, str], found: dict[str, Entry], report: VerificationReport
) -> None:
    """Make the damaged lake files again, and take them off what is damaged; they are new the next time."""
    root = settings.data_dir
    lake = [path for path in damaged if path.is_relative_to(lake_dir(root))]
    report.repaired = repair(settings, {path: damaged.pop(path) for path in lake})
    for path in lake:
        del found[str(path.relative_to(root))]
