"""Tells exports what they need to know of this installation."""

from pathlib import Path

from transit_etl import paths
from transit_etl.identity import part_of
from transit_etl.settings import FolderSettings, Settings
from transit_exports.settings import NO_LICENCE, ExportSettings


def report_folder(settings: FolderSettings) -> Path:
    """Return the folder of an operator's reports."""
    return paths.performance_dir(settings.data_dir) / part_of(settings)


def _translate(words: str, language: str) -> str:
    """Return words as reports have them in a language such as `it` or `it-CH`."""
    from transit_reports.language import (  # noqa: PLC0415 - reads translations, which few exports need
        languages,
        translated,
        written_in,
    )

    code = language.partition("-")[0]
    if code not in languages():
        return words
    with written_in(code):
        return translated(words)


def export_settings(settings: Settings) -> ExportSettings:
    """Return the settings of an operator's exports from the published file of a data folder into it."""
    root, part = settings.data_dir, part_of(settings)
    return ExportSettings(
        database=paths.published_database(root),
        operator=settings.operator,
        folder=paths.exports_dir(root) / part,
        older_folder=paths.older_exports_dir(root) / part,
        scratch_folder=paths.export_scratch_dir(root),
        locks_folder=paths.export_locks_dir(root),
        keep_days=settings.export_keep_days,
        publisher=settings.publisher or "",
        publisher_url=settings.publisher_url or "",
        interface_url=settings.base_url,
        contact=settings.publisher_contact or "",
        licence=settings.export_licence or NO_LICENCE,
        language=settings.language,
        translate=_translate,
        address=settings.export_url or "",
        report_address=settings.report_url or "",
    )
