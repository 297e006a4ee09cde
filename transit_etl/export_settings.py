"""Tells exports what they need to know of this installation."""

from transit_etl import paths
from transit_etl.settings import Settings
from transit_exports.settings import NO_LICENCE, ExportSettings


def export_settings(settings: Settings) -> ExportSettings:
    """Return the settings of exports from the published file of a data folder into the same folder."""
    root = settings.data_dir
    return ExportSettings(
        database=paths.published_database(root),
        folder=paths.exports_dir(root),
        older_folder=paths.older_exports_dir(root),
        scratch_folder=paths.export_scratch_dir(root),
        locks_folder=paths.export_locks_dir(root),
        keep_days=settings.export_keep_days,
        publisher=settings.publisher or "",
        publisher_url=settings.publisher_url or "",
        interface_url=settings.base_url,
        contact=settings.publisher_contact or "",
        licence=settings.export_licence or NO_LICENCE,
        language=settings.language,
        address=settings.export_url or "",
    )
