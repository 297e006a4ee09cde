"""Checks that no file of an installation has changed by itself, by a list of checksums."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from transit_base.files import misplaced_text, passed_over_texts
from transit_base.listing import passing_over
from transit_etl.checksums import CHANGED, Entry, change_checksums, entry_of, read_checksums
from transit_etl.identity import claim, operators_settings
from transit_etl.lake_reading import damage_of, read_undamaged, windows_of
from transit_etl.paths import (
    DAY_STEM,
    all_lake_files,
    checksum_list,
    lake_day,
    lake_dir,
    lake_file,
    lake_files,
    misplaced_folders,
    partition_of,
    published_database,
    quarantine_dir,
    quarantine_files,
    raw_dir,
    raw_files,
    raw_parts,
)
from transit_etl.service_day import DAY
from transit_etl.settings import CollectSettings, FolderSettings, Settings
from transit_etl.stage.lake import day_lock
from transit_etl.stage.raw import RawFileError, check_whole
from transit_etl.stage.repair import repair, set_aside
from transit_etl.warehouse import PublishedFile, read_published, unreadable


@dataclass(slots=True)
class VerificationReport:
    """What was checked. `damaged` and `missing` name what cannot be made again, `repaired` what was.

    `n_new` files had no checksum yet, or were replaced since: they were read to their end, and their
    checksums are compared from now on.
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
    are; a new one must be readable to its end. The published warehouse must be what was recorded when it was
    published. Raw files must not disappear, nor lake files of which the window counts as staged. What cannot
    be read counts as damaged. A damaged export, and a file of quarantine that is gone, are warnings.
    """
    claim(settings)
    root, report = settings.data_dir, VerificationReport()
    listed, n_damaged_lines = read_checksums(checksum_list(root))
    before = {name: entry for name, entry in listed.items() if _is_readable(root, root / name)}
    if n_damaged_lines or len(before) < len(listed):
        report.warnings = [f"{checksum_list(root)} is damaged or was cut: some files count as new"]
    with passing_over() as unlisted:
        found, damaged = _read_files(root, before, report)
    gone = [
        root / name
        for name in sorted(before.keys() - found.keys())
        if root / name not in damaged and unlisted.keys().isdisjoint((root / name).parents)
    ]
    lost = {path: "it is gone" for path in gone if _is_lost(root, path, before)}
    report.warnings += [
        f"{path} is gone: `transit-etl reprocess` makes it again"
        for path in gone
        if _is_lost_quarantine(settings, path, before)
    ]
    if repairs:
        _repair_lake(settings, damaged | lost, report)
        damaged = {path: text for path, text in damaged.items() if not _is_in_lake(root, path)}
        lost = {path: text for path, text in lost.items() if _is_lost(root, path, before)}
    report.damaged += [f"{path}: {damage}" for path, damage in damaged.items()]
    report.damaged += passed_over_texts(unlisted)
    report.damaged += map(misplaced_text, misplaced_folders(root))
    report.missing = [str(path.relative_to(root)) for path in lost]
    _verify_published(root, report, repairs=repairs)
    report.warnings += _damaged_exports(settings)
    dropped = {str(path.relative_to(root)) for path in gone if path not in lost}
    after = {name: entry for name, entry in (before | found).items() if name not in dropped}
    change_checksums(root, lambda now: _merged(listed, after, now))
    return report


def _read_files(
    root: Path, known: Mapping[str, Entry], report: VerificationReport
) -> tuple[dict[str, Entry], dict[Path, str]]:
    """Read every file; return the entries of those that are sound or known, and what is wrong with others."""
    found: dict[str, Entry] = {}
    damaged: dict[Path, str] = {}
    for path in _files(root):
        try:
            entry = entry_of(root, path)
        except FileNotFoundError:
            if path.is_symlink():
                damaged[path] = "a link that leads nowhere"
            continue  # merged or replaced since it was listed
        except OSError as error:
            damaged[path] = error.strerror or str(error)
            continue
        listed = known.get(entry.path)
        if listed is not None and _must_be_same(root, path, listed, entry):
            damage = None if listed.sha256 == entry.sha256 else CHANGED
            entry = listed
        else:
            damage = _damage_of(path)
            report.n_new += 1
        if damage:
            damaged[path] = damage
        if not damage or not _is_in_lake(root, path):  # a lake file that is made again is a new one
            found[entry.path] = entry
        report.n_files += 1
        report.n_bytes += entry.size_bytes
    return found, damaged


def _merged(
    before: Mapping[str, Entry], after: Mapping[str, Entry], now: Mapping[str, Entry]
) -> dict[str, Entry]:
    """Change a list from before to after, except for what others have changed in it until now."""
    others = {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
    ours = {name: entry for name, entry in after.items() if name not in others}
    return ours | {name: entry for name, entry in now.items() if name in others}


def _is_lost(root: Path, path: Path, known: Mapping[str, Entry]) -> bool:
    """Tell whether a file that is gone should be there: a raw file, or a lake file whose rows are missing.

    Rows are not missing that were merged or staged again, or will be, as the window has no `requests`.
    """
    if path.is_relative_to(raw_dir(root)):
        return not path.exists()
    if not _is_in_lake(root, path):
        return False
    operator, day = lake_day(path)
    with day_lock(root, operator, day):  # so that no other process is merging the day
        if path.exists():
            return False
        dataset = partition_of(path)["dataset"]
        staged = read_undamaged(windows_of, lake_files(root, dataset, operator, day))
        if path.stem in staged:
            return False
        if dataset != "requests":
            return _is_untouched(root, lake_file(root, operator, "requests", day, path.stem), known)
        staged |= {raw_parts(each)["window"] for each in raw_files(root, operator, day=day)}
        return path.stem not in staged and not (path.stem == DAY_STEM and staged)


def _is_lost_quarantine(settings: FolderSettings, path: Path, known: Mapping[str, Entry]) -> bool:
    """Tell whether a file that is gone held rows set aside of a window that is still staged, and not old."""
    root = settings.data_dir
    if not path.is_relative_to(quarantine_dir(root)) or path.exists():
        return False
    operator, day = lake_day(path)
    marker = lake_file(root, operator, "requests", day, path.stem)
    is_kept = day >= settings.clock.now().date() - DAY * settings.quarantine_keep_days
    return is_kept and _is_untouched(root, marker, known)


def _is_untouched(root: Path, path: Path, known: Mapping[str, Entry]) -> bool:
    """Tell whether a file is there as its entry says, by size and time of change."""
    entry = known.get(str(path.relative_to(root)))
    with suppress(FileNotFoundError):
        status = path.stat()
        return entry is not None and (entry.size_bytes, entry.modified_ns) == (
            status.st_size,
            status.st_mtime_ns,
        )
    return False


def _verify_published(root: Path, report: VerificationReport, *, repairs: bool) -> None:
    """Compare what is published with its record; set a damaged file of detail aside: nobody may read it."""
    path, files = published_database(root), read_published(root)
    if files is None and path.is_file():
        files = [PublishedFile(path, path.stat().st_size, unreadable(path))]
        report.n_new += 1
        report.warnings.append(f"{path} was published without a record: `transit-etl publish` makes one")
    for each in files or ():
        if each.path.is_dir():
            continue  # it is named with the others
        report.n_files += 1
        report.n_bytes += each.size_bytes
        if each.is_missing:
            report.missing.append(str(each.path.relative_to(root)))
        elif each.damage:
            report.damaged.append(f"{each.path}: {each.damage}: `transit-etl publish` makes it again")
            if repairs and each.path != path:
                set_aside(each.path)


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


def _must_be_same(root: Path, path: Path, known: Entry, entry: Entry) -> bool:
    is_untouched = (known.size_bytes, known.modified_ns) == (entry.size_bytes, entry.modified_ns)
    return is_untouched or path.is_relative_to(raw_dir(root))


def _is_readable(root: Path, path: Path) -> bool:
    """Tell whether a path of lake or quarantine names the dataset and day that each path there has."""
    if not any(path.is_relative_to(folder(root)) for folder in (lake_dir, quarantine_dir)):
        return True
    try:
        lake_day(path)
    except (KeyError, ValueError):
        return False
    return "dataset" in partition_of(path)


def _is_in_lake(root: Path, path: Path) -> bool:
    return path.is_relative_to(lake_dir(root))


def _damage_of(path: Path) -> str | None:
    """Read a file that is new to its end; return what is wrong with it."""
    if path.suffix == ".parquet":
        return damage_of(path)
    try:
        check_whole(path)
    except RawFileError as error:
        return str(error)
    return None


def _repair_lake(settings: CollectSettings, faults: Mapping[Path, str], report: VerificationReport) -> None:
    """Make damaged and lost lake files again, which are new the next time; some cannot be."""
    lake = {path: text for path, text in faults.items() if _is_in_lake(settings.data_dir, path)}
    report.repaired, report.damaged = repair(settings, lake)
