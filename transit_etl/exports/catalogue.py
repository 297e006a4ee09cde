"""Writes the catalogue of all exported datasets: DCAT-AP as JSON-LD for portals, and a page for people."""

import html
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

from transit_etl import paths
from transit_etl.exports.manifest import NAME, File, Manifest, ManifestError, read_manifest
from transit_etl.files import locked, write_text
from transit_etl.settings import Settings

DCAT, PAGE = "catalogue.jsonld", "index.html"
_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "spdx": "http://spdx.org/rdf/terms#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "adms": "http://www.w3.org/ns/adms#",
}
_STYLE = (
    "body{font:16px/1.5 sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    "table{border-collapse:collapse;width:100%}th,td{border-bottom:1px solid #ccc;padding:.4rem;"
    "text-align:left;vertical-align:top}td.number{text-align:right}.incomplete{color:#a00}"
)


def write_catalogue(settings: Settings) -> None:
    """Write the catalogue of the exports that are there now."""
    folder = paths.exports_dir(settings.data_dir)
    with locked(paths.export_lock(settings.data_dir, "catalogue")):
        manifests = list(_manifests(folder))
        write_text(folder / DCAT, json.dumps(_catalogue(settings, manifests), ensure_ascii=False, indent=2))
        write_text(folder / PAGE, "\n".join(_page(settings, manifests)))


def _manifests(folder: Path) -> Iterator[Manifest]:
    for path in sorted(folder.glob(f"[!.]*/{NAME}")):
        try:
            manifest = read_manifest(path.parent)
        except ManifestError:
            continue  # `verify` reports it
        if manifest is not None:
            yield manifest


def _catalogue(settings: Settings, manifests: Sequence[Manifest]) -> dict[str, Any]:
    base = settings.export_url or ""
    publisher = _publisher(settings)
    return {
        "@context": _CONTEXT,
        "@id": base or "./",
        "@type": "dcat:Catalog",
        "dct:title": f"Datasets of {settings.publisher or settings.operator}",
        "dct:description": "Punctuality, service delivered and disruptions of public transport, with bounds.",
        "dct:publisher": publisher,
        "dcat:dataset": [_dataset(base, publisher, manifest) for manifest in manifests],
    }


def _publisher(settings: Settings) -> dict[str, str]:
    return {"@type": "foaf:Agent", "foaf:name": settings.publisher or settings.operator}


def _dataset(base: str, publisher: dict[str, str], manifest: Manifest) -> dict[str, Any]:
    address = urljoin(base, f"{quote(manifest.dataset)}/")
    return {
        "@id": address,
        "@type": "dcat:Dataset",
        "dct:identifier": manifest.dataset,
        "dct:title": manifest.title,
        "dct:description": _description(manifest),
        "dct:publisher": publisher,
        "dct:modified": _typed("dateTime", manifest.published_at),
        "dct:temporal": {
            "@type": "dct:PeriodOfTime",
            "dcat:startDate": _typed("date", manifest.first_date),
            "dcat:endDate": _typed("date", manifest.last_date),
        },
        "dct:conformsTo": [{"@id": each} for each in _standards(manifest)],
        "adms:versionNotes": json.dumps(manifest.versions),
        "dcat:landingPage": {"@id": urljoin(address, "README.md")},
        "dcat:distribution": [
            _distribution(address, manifest, file) for file in manifest.files if file.table
        ],
    }


def _distribution(address: str, manifest: Manifest, file: File) -> dict[str, Any]:
    return {
        "@type": "dcat:Distribution",
        "dct:title": file.path,
        "dcat:accessURL": {"@id": address},
        "dcat:downloadURL": {"@id": urljoin(address, quote(file.path))},
        "dcat:mediaType": manifest.media_type,
        "dcat:byteSize": _typed("nonNegativeInteger", str(file.n_bytes)),
        "dct:license": manifest.licence,
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": _typed("hexBinary", file.sha256),
        },
    }


def _typed(kind: str, value: str) -> dict[str, str]:
    return {"@type": f"xsd:{kind}", "@value": value}


def _standards(manifest: Manifest) -> list[str]:
    addresses = {"tides": "https://tides-transit.org/", "gtfs": "https://gtfs.org/documentation/schedule/"}
    return [addresses[manifest.format]] if manifest.format in addresses else []


def _description(manifest: Manifest) -> str:
    meanings = " ".join(table["meaning"] for table in manifest.tables)
    reasons = "" if manifest.is_complete else f" Incomplete: {'; '.join(manifest.incomplete)}."
    return f"{meanings or manifest.title}{reasons}"


def _page(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[str]:
    title = html.escape(f"Datasets of {settings.publisher or settings.operator}")
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    yield f"<style>{_STYLE}</style><h1>{title}</h1>"
    yield f'<p>For data portals: <a href="{DCAT}">{DCAT}</a> (DCAT-AP).</p>'
    yield (
        "<table><tr><th>dataset</th><th>format</th><th>service dates</th><th>rows</th><th>bytes</th>"
        "<th>licence</th><th>published</th></tr>"
    )
    for manifest in manifests:
        yield _page_row(manifest)
    yield "</table></html>\n"


def _page_row(manifest: Manifest) -> str:
    address = html.escape(quote(manifest.dataset))
    mark = "" if manifest.is_complete else ' <strong class="incomplete">incomplete</strong>'
    name = f'<a href="{address}/README.md">{html.escape(manifest.dataset)}</a>{mark}<br>'
    cells = (
        name + html.escape(_description(manifest)),
        html.escape(manifest.format),
        f"{manifest.first_date} to {manifest.last_date}",
        html.escape(manifest.licence),
        html.escape(manifest.published_at),
    )
    texts = [f"<td>{cell}</td>" for cell in cells]
    numbers = [f'<td class="number">{number:,}</td>' for number in (manifest.n_rows, manifest.n_bytes)]
    return f"<tr>{''.join([*texts[:3], *numbers, *texts[3:]])}</tr>"
