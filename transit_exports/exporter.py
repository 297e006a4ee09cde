"""Exports datasets: writes the planned files into a new folder, and puts it in place in one step."""

import os
from collections.abc import Sequence
from pathlib import Path

from transit_base.files import (
    FILE_MODE,
    locked,
    make_folder,
    repair_folder,
    replace_folder,
    replacement_of,
    sync_tree,
    write_text,
)
from transit_exports.catalogue import write_catalogue
from transit_exports.changes import changed_months
from transit_exports.manifest import (
    PAGE,
    README,
    File,
    Manifest,
    ManifestError,
    described,
    read_manifest,
    write_manifest,
)
from transit_exports.pages import dataset_page
from transit_exports.parts import Part
from transit_exports.plan import Plan, dataset_name, format_of
from transit_exports.readme import readme_of
from transit_exports.request import ExportError, ExportReport, Request
from transit_exports.scratch import emptied, opened_with_scratch
from transit_exports.settings import ExportSettings
from transit_exports.source import Source, readable_errors
from transit_exports.versions import keep_version


def export(settings: ExportSettings, request: Request, *, keeps_unchanged: bool = False) -> ExportReport:
    """Write a dataset as a folder of its own with a manifest, in one step.

    `keeps_unchanged` takes the months over from the export before in which nothing was built since, and
    leaves that export alone if these are all.
    ExportError refuses what cannot be exported, and a period of which too little was seen unless the request
    allows it; nothing is changed then.
    """
    format_of(request)
    with opened_with_scratch(settings, dataset_name(request)) as source:
        report = export_from(source, request, keeps_unchanged=keeps_unchanged)
    if not request.output:
        write_catalogue(settings, source.publisher)
    return report


def export_from(source: Source, request: Request, *, keeps_unchanged: bool = False) -> ExportReport:
    """Write a dataset of an open warehouse as `export` does; the catalogue stays as it is."""
    settings, name = source.settings, dataset_name(request)
    folder = (request.output or settings.folder / name).absolute()
    with locked(settings.lock(name)), readable_errors(settings):
        repair_folder(folder)
        before = _before(folder)
        plan = Plan(request, source)
        if keeps_unchanged and before is not None and plan.is_in(before):
            return _as_before(folder, before)
        with emptied(_built_in(settings, request, folder)) as built:
            kept = _kept(plan, before, folder) if keeps_unchanged else {}
            report = _build(plan, built, kept, before)
            report.folder = folder
            if before is not None and not request.output:
                report.is_new_version = keep_version(settings, folder, before, built)
            replace_folder(built, folder)
    return report


def _built_in(settings: ExportSettings, request: Request, folder: Path) -> Path:
    """Return where an export is built: on the same disk as its place, and in no folder that is served."""
    return replacement_of(folder) if request.output else settings.scratch(folder.name)


def _before(folder: Path) -> Manifest | None:
    """Return the manifest of the export that is replaced; ExportError for a folder that is no export."""
    try:
        before = read_manifest(folder)
    except ManifestError:
        return None
    if before is None and folder.exists() and any(folder.iterdir()):
        raise ExportError(f"{folder} is there already and is no export: name another folder")
    return before


def due(settings: ExportSettings, requests: Sequence[Request]) -> list[Request]:
    """Return those of some requests whose exports are missing, or older than what was built since.

    A request that would be refused is not due.
    """
    with opened_with_scratch(settings, "due") as source:
        return [request for request in requests if _is_due(source, request)]


def _is_due(source: Source, request: Request) -> bool:
    try:
        plan = Plan(request, source)
        before = _before(source.settings.folder / plan.name)
    except ExportError:
        return False
    return before is None or not plan.is_in(before)


def _as_before(folder: Path, before: Manifest) -> ExportReport:
    files = [file for file in before.files if file.table]
    return ExportReport(
        folder=folder,
        n_files=len(files),
        n_kept_files=len(files),
        n_rows=before.n_rows,
        n_bytes=before.n_bytes,
        is_new_version=False,
        incomplete=[*before.incomplete, *before.errors],
    )


def _kept(plan: Plan, before: Manifest | None, folder: Path) -> dict[str, tuple[File, Path]]:
    """Return the files of the export before, by path, whose months have not changed since."""
    if before is None or before.signature != plan.signature:
        return {}
    changed = changed_months(plan.source, before, plan.period)
    if changed is None:
        return {}
    planned = {part.path for part in plan.parts if part.month and part.month not in changed}
    return {
        file.path: (file, folder / file.path)
        for file in before.files
        if file.path in planned and _is_whole(folder / file.path, file)
    }


def _is_whole(path: Path, file: File) -> bool:
    return path.exists() and path.stat().st_size == file.n_bytes


def _build(
    plan: Plan, built: Path, kept: dict[str, tuple[File, Path]], before: Manifest | None
) -> ExportReport:
    """Write all files of an export into a new folder, and make them durable."""
    files = [_write_part(plan, built, part, kept) for part in plan.parts]
    errors = _errors(plan, built)
    pages = _write_pages(plan, built, plan.manifest(files, before, errors))
    manifest = plan.manifest([*pages, *files], before, errors)
    write_manifest(built, manifest)
    sync_tree(built)
    return ExportReport(
        folder=built,
        n_files=sum(1 for file in files if file.table),
        n_kept_files=sum(1 for file, _ in kept.values() if file.table),
        n_rows=manifest.n_rows,
        n_bytes=manifest.n_bytes,
        incomplete=[*plan.missing, *errors],
    )


def _errors(plan: Plan, built: Path) -> list[str]:
    """Return what a public validator finds wrong with a feed; ExportError unless the request allows it."""
    errors = plan.form.errors(built)
    if errors and not plan.request.allows_incomplete:
        raise ExportError(
            f"the feed {plan.name} is not valid ({'; '.join(errors)}); "
            "--allow-incomplete exports it all the same, marked"
        )
    return errors


def _write_pages(plan: Plan, built: Path, manifest: Manifest) -> list[File]:
    """Write the page of an export, as text and for a browser."""
    text = readme_of(manifest, plan.tables)
    write_text(built / README, text)
    is_listed = not plan.request.output
    page = dataset_page(manifest.title, text, publisher=manifest.publisher, is_listed=is_listed)
    write_text(built / PAGE, page)
    return [described(built, name, "", "", 0) for name in (PAGE, README)]


def _write_part(plan: Plan, built: Path, part: Part, kept: dict[str, tuple[File, Path]]) -> File:
    path = built / part.path
    make_folder(path.parent)
    if part.path in kept:
        file, old = kept[part.path]
        os.link(old, path)
        return file
    n_rows = part.write(plan.source, path)
    path.chmod(path.stat().st_mode & FILE_MODE)
    return described(built, part.path, part.table, part.month, n_rows)
