"""Lists all exported datasets: each once, whatever formats it has, for portals (DCAT-AP) and for people."""

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from transit_base.files import locked, write_text
from transit_exports import dcat, pages
from transit_exports.manifest import NAME, Dataset, Manifest, ManifestError, read_manifest
from transit_exports.settings import ExportSettings

DCAT, PAGE = "catalogue.jsonld", "index.html"


def write_catalogue(settings: ExportSettings, publisher: str) -> None:
    """Write the catalogue of the exports that are there now."""
    folder = settings.folder
    with locked(settings.lock("catalogue")):
        datasets = _datasets(folder)
        text = json.dumps(dcat.catalogue(settings, publisher, datasets), ensure_ascii=False, indent=2)
        write_text(folder / DCAT, text + "\n")
        write_text(folder / PAGE, pages.index(settings, publisher, datasets, DCAT))


def _datasets(folder: Path) -> list[Dataset]:
    """Return the datasets, sorted by title."""
    manifests = sorted(_manifests(folder), key=_subject)
    found = [Dataset(subject, list(formats)) for subject, formats in groupby(manifests, _subject)]
    return sorted(found, key=lambda each: each.newest.title)


def _subject(manifest: Manifest) -> str:
    return manifest.subject or manifest.dataset


def _manifests(folder: Path) -> Iterator[Manifest]:
    for path in sorted(folder.glob(f"[!.]*/{NAME}")):
        try:
            manifest = read_manifest(path.parent)
        except ManifestError:
            continue  # `verify` reports it
        if manifest is not None:
            yield manifest
