"""Exports datasets: plans the files, writes them into a new folder, and puts it in place in one step."""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from transit_etl import paths
from transit_etl.exports.catalogue import write_catalogue
from transit_etl.exports.changes import changed_months
from transit_etl.exports.coverage import Coverage, coverage_of, kind_of, what_is_missing
from transit_etl.exports.formats import FORMATS, Format
from transit_etl.exports.manifest import (
    README,
    File,
    Manifest,
    ManifestError,
    described,
    read_manifest,
    write_manifest,
)
from transit_etl.exports.parts import Part
from transit_etl.exports.periods import period_of
from transit_etl.exports.readme import readme_of
from transit_etl.exports.request import ExportError, ExportReport, Request
from transit_etl.exports.source import Source, Table, opened
from transit_etl.exports.versions import keep_version
from transit_etl.files import (
    FILE_MODE,
    clear_away,
    locked,
    make_folder,
    repair_folder,
    replace_folder,
    replacement_of,
    sync_tree,
    write_text,
)
from transit_etl.settings import Settings

_LONGEST_NAME = 200  # of a folder, in characters
_LAYOUT = 1  # of the files and their contents; another number makes incremental exports write all of them


def export(settings: Settings, request: Request, *, keeps_unchanged: bool = False) -> ExportReport:
    """Write a dataset as a folder of its own with a manifest, in one step.

    `keeps_unchanged` takes the months over from the export before in which nothing was built since, and
    leaves that export alone if these are all.
    ExportError refuses what cannot be exported, and a period of which too little was seen unless the request
    allows it; nothing is changed then.
    """
    form = _format_of(request)
    name = dataset_name(request)
    folder = (request.output or paths.exports_dir(settings.data_dir) / name).absolute()
    scratch = paths.state_dir(settings.data_dir).absolute() / "export-scratch" / name
    with locked(paths.export_lock(settings.data_dir, name)), _emptied(scratch):
        repair_folder(folder)
        before = _before(folder)
        with opened(settings, scratch) as source:
            work = _Work(settings, request, form, source, name)
            if keeps_unchanged and before is not None and work.is_in(before):
                return _as_before(folder, before)
            built = replacement_of(folder)
            kept = _kept(work, before, folder) if keeps_unchanged else {}
            report = _build(work, built, kept)
        report.folder = folder
        if before is not None and not request.output:
            report.is_new_version = keep_version(settings, folder, before, built)
        replace_folder(built, folder)
    if not request.output:
        write_catalogue(settings)
    return report


def dataset_name(request: Request) -> str:
    """Return the name of the folder of an export: its tables, format and dates, if any are asked for."""
    tables = "+".join(sorted(name.strip().lower().rpartition(".")[2] for name in request.names))
    dates = [f"{day}" if day else "" for day in (request.first, request.last)] if _has_dates(request) else []
    dates += [paths.window_stamp(request.at)] if request.at else []
    name = "-".join([*([tables] if tables else []), request.format, *dates])
    if len(name) > _LONGEST_NAME and not request.output:
        raise ExportError("so many tables make no name of a folder: name one with --output")
    return name[:_LONGEST_NAME]


def _has_dates(request: Request) -> bool:
    return request.first is not None or request.last is not None


def _format_of(request: Request) -> Format:
    form = FORMATS.get(request.format)
    if form is None:
        raise ExportError(f"{request.format!r} is not one of {', '.join(map(repr, FORMATS))}")
    if form.is_feed and request.names:
        raise ExportError(f"{form.name} has tables of its own: name none")
    if request.at and not form.is_of_moment:
        raise ExportError(f"{form.name} is of a period: give dates instead of an instant")
    if not form.is_feed and not request.names:
        raise ExportError(f"name the tables to export as {form.name}; transit-etl tables lists them")
    return form


def _before(folder: Path) -> Manifest | None:
    """Return the manifest of the export that is replaced; ExportError for a folder that is no export."""
    try:
        before = read_manifest(folder)
    except ManifestError:
        return None
    if before is None and folder.exists() and any(folder.iterdir()):
        raise ExportError(f"{folder} is there already and is no export: name another folder")
    return before


class _Work:
    """What an export is made of and what is known of it before anything is written."""

    def __init__(self, settings: Settings, request: Request, form: Format, source: Source, name: str) -> None:
        self.settings, self.request, self.form, self.source, self.name = (
            settings, request, form, source, name,
        )  # fmt: skip
        self.tables: Sequence[Table] = [source.table(each) for each in dict.fromkeys(request.names)]
        self.period = period_of(request, source.publication)
        kind = form.needs if form.is_feed else kind_of(source, [*self.tables])
        self.coverage: Coverage = coverage_of(source, kind, self.period)
        self.missing = [*what_is_missing(source, self.coverage, self.period), *form.lacks(source)]
        if self.missing and not request.allows_incomplete:
            raise ExportError(
                f"too little is known from {self.period.first} to {self.period.last}: "
                f"{'; '.join(self.missing)}; --allow-incomplete exports it all the same, marked"
            )
        self.parts: Sequence[Part] = form.plan(source, request, self.period)

    def is_in(self, before: Manifest) -> bool:
        """Tell whether an export has all that this one would have: nothing was built since."""
        is_same = before.signature == self.signature() and list(before.incomplete) == self.missing
        return is_same and changed_months(self.source, before, self.period) == set()

    def signature(self) -> str:
        """Return a digest of what decides how rows are written: format, options, columns, the code."""
        columns = [(each.place, column.name, column.type) for each in self.tables for column in each.columns]
        described = [
            _LAYOUT, version("transit-etl"), self.form.name, self.request.neutralises_formulas,
            self.source.publication.fingerprint, columns,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(described).encode()).hexdigest()

    def manifest(self, files: Sequence[File]) -> Manifest:
        """Return the manifest of the export with these files."""
        publication, settings = self.source.publication, self.settings
        return Manifest(
            dataset=self.name,
            title=f"{self._contents()} of {publication.operator}, {self.form.title}",
            format=self.form.name,
            media_type=self.form.media_type,
            first_date=str(self.period.first),
            last_date=str(self.period.last),
            timezone=publication.timezone,
            is_complete=not self.missing,
            incomplete=self.missing,
            coverage=self.coverage.as_fields(),
            versions={
                "code": version("transit-etl"),
                "build": publication.build_number,
                "models": publication.fingerprint[:12],
                "rulesets": list(publication.rulesets),
                "schema": self.signature()[:12],
            },
            published_at=f"{publication.published_at.isoformat(timespec='seconds')}Z",
            publisher=self.source.publisher,
            licence=settings.export_licence or "not stated",
            tables=[_table_entry(table) for table in self.tables],
            files=files,
            signature=self.signature(),
        )

    def _contents(self) -> str:
        return ", ".join(table.place for table in self.tables) or self.form.contents


def _table_entry(table: Table) -> dict[str, Any]:
    return {
        "name": table.place,
        "meaning": table.meaning,
        "key": list(table.key),
        "columns": [
            {"name": each.name, "type": each.type.lower(), "unit": each.unit, "meaning": each.meaning}
            for each in table.columns
        ],
    }


def due(settings: Settings, requests: Sequence[Request]) -> list[Request]:
    """Return those of some requests whose exports are missing, or older than what was built since.

    A request that would be refused is not due.
    """
    scratch = paths.state_dir(settings.data_dir).absolute() / "export-scratch" / "due"
    with opened(settings, scratch) as source:
        return [request for request in requests if _is_due(settings, source, request)]


def _is_due(settings: Settings, source: Source, request: Request) -> bool:
    name = dataset_name(request)
    try:
        work = _Work(settings, request, _format_of(request), source, name)
        before = _before(paths.exports_dir(settings.data_dir) / name)
    except ExportError:
        return False
    return before is None or not work.is_in(before)


def _as_before(folder: Path, before: Manifest) -> ExportReport:
    files = [file for file in before.files if file.table]
    return ExportReport(
        folder=folder,
        n_files=len(files),
        n_kept_files=len(files),
        n_rows=before.n_rows,
        n_bytes=before.n_bytes,
        is_new_version=False,
        incomplete=list(before.incomplete),
    )


def _kept(work: _Work, before: Manifest | None, folder: Path) -> dict[str, tuple[File, Path]]:
    """Return the files of the export before, by path, whose months have not changed since."""
    if before is None or before.signature != work.signature():
        return {}
    changed = changed_months(work.source, before, work.period)
    if changed is None:
        return {}
    planned = {part.path for part in work.parts if part.month and part.month not in changed}
    return {
        file.path: (file, folder / file.path)
        for file in before.files
        if file.path in planned and _is_whole(folder / file.path, file)
    }


def _is_whole(path: Path, file: File) -> bool:
    return path.exists() and path.stat().st_size == file.n_bytes


def _build(work: _Work, built: Path, kept: dict[str, tuple[File, Path]]) -> ExportReport:
    """Write all files of an export into a new folder, and make them durable."""
    clear_away(built)
    make_folder(built)
    files = [_write_part(work, built, part, kept) for part in work.parts]
    notes = work.form.notes
    write_text(built / README, readme_of(work.manifest(files), work.tables, notes))
    manifest = work.manifest([described(built, README, "", "", 0), *files])
    write_manifest(built, manifest)
    sync_tree(built)
    return ExportReport(
        folder=built,
        n_files=len(files),
        n_kept_files=len(kept),
        n_rows=manifest.n_rows,
        n_bytes=manifest.n_bytes,
        incomplete=list(work.missing),
    )


def _write_part(work: _Work, built: Path, part: Part, kept: dict[str, tuple[File, Path]]) -> File:
    path = built / part.path
    make_folder(path.parent)
    if part.path in kept:
        file, old = kept[part.path]
        os.link(old, path)
        return file
    n_rows = part.write(work.source, path)
    path.chmod(path.stat().st_mode & FILE_MODE)
    return described(built, part.path, part.table, part.month, n_rows)


@contextmanager
def _emptied(folder: Path) -> Iterator[None]:
    """Have an empty folder for what does not fit into memory; a killed export may have left some."""
    clear_away(folder)
    make_folder(folder)
    try:
        yield
    finally:
        clear_away(folder)
