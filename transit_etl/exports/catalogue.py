"""Writes the catalogue of all exported datasets: DCAT-AP as JSON-LD for portals, and a page for people."""

import html
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urljoin

from transit_etl import paths
from transit_etl.exports.manifest import NAME, README, File, Manifest, ManifestError, read_manifest
from transit_etl.exports.source import NO_LICENCE, licence_address
from transit_etl.files import locked, write_text
from transit_etl.settings import Settings

DCAT, PAGE = "catalogue.jsonld", "index.html"
_MEGABYTE = 1_000_000
_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "spdx": "http://spdx.org/rdf/terms#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "adms": "http://www.w3.org/ns/adms#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
}
_MEDIA_TYPES = "https://www.iana.org/assignments/media-types/"
_TRANSPORT = "http://publications.europa.eu/resource/authority/data-theme/TRAN"
_STANDARDS = {
    "tides": "https://tides-transit.org/",
    "gtfs": "https://gtfs.org/documentation/schedule/",
    "gtfs-retrospective": "https://gtfs.org/documentation/schedule/",
    "gtfs-rt": "https://gtfs.org/documentation/realtime/",
}
_STYLE = (
    "body{font:16px/1.5 sans-serif;margin:2rem auto;max-width:50rem;padding:0 1rem;overflow-wrap:anywhere}"
    "article{border-top:1px solid #ccc;padding:.5rem 0}h2{font-size:1.1rem;margin:.5rem 0 0}p{margin:.3rem 0}"
    ".facts{color:#555}.incomplete{color:#a00}table{border-collapse:collapse}td{padding:.1rem .6rem .1rem 0}"
)


def write_catalogue(settings: Settings) -> None:
    """Write the catalogue of the exports that are there now."""
    folder = paths.exports_dir(settings.data_dir)
    with locked(paths.export_lock(settings.data_dir, "catalogue")):
        manifests = sorted(_manifests(folder), key=lambda each: each.title)
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


def _publisher(settings: Settings) -> dict[str, Any]:
    agent = {"@type": "foaf:Agent", "foaf:name": settings.publisher or settings.operator}
    return agent | _link("foaf:homepage", settings.publisher_url)


def _link(name: str, address: str | None) -> dict[str, Any]:
    return {name: {"@id": address}} if address else {}


def _dataset(base: str, publisher: dict[str, Any], manifest: Manifest) -> dict[str, Any]:
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
        **_link("dct:conformsTo", _STANDARDS.get(manifest.format)),
        "dcat:theme": {"@id": _TRANSPORT},
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
        **_media_type(manifest.media_type),
        "dcat:byteSize": _typed("nonNegativeInteger", str(file.n_bytes)),
        **_licence(manifest.licence),
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": _typed("hexBinary", file.sha256),
        },
    }


def _typed(kind: str, value: str) -> dict[str, str]:
    return {"@type": f"xsd:{kind}", "@value": value}


def _media_type(name: str) -> dict[str, Any]:
    """Return the media type as the address of its registration; one that has none as a name."""
    if "/x-" in name:
        return {"dct:format": {"@type": "dct:MediaTypeOrExtent", "rdfs:label": name}}
    return {"dcat:mediaType": {"@id": f"{_MEDIA_TYPES}{name}"}}


def _licence(text: str) -> dict[str, Any]:
    """Return a licence by its address; one that has none by its name."""
    if text == NO_LICENCE:
        return {}
    if address := licence_address(text):
        return {"dct:license": {"@id": address}}
    return {"dct:license": {"@type": "dct:LicenseDocument", "rdfs:label": text}}


def _description(manifest: Manifest) -> str:
    meanings = " ".join([*(table["meaning"] for table in manifest.tables), *manifest.notes])
    reasons = "" if manifest.is_complete else f" Incomplete: {'; '.join(manifest.incomplete)}."
    return f"{meanings or manifest.title}{reasons}".replace("`", "")


def _page(settings: Settings, manifests: Sequence[Manifest]) -> Iterator[str]:
    title = html.escape(f"Datasets of {settings.publisher or settings.operator}")
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{_STYLE}</style><h1>{title}</h1>"
    yield f'<p>For data portals: <a href="{DCAT}">{DCAT}</a> (DCAT-AP).</p>'
    for manifest in manifests:
        yield from _article(manifest)
    yield "</html>\n"


def _article(manifest: Manifest) -> Iterator[str]:
    folder = html.escape(quote(manifest.dataset))
    mark = "" if manifest.is_complete else ' <strong class="incomplete">incomplete</strong>'
    facts = (
        f"{manifest.first_date} to {manifest.last_date}",
        f"{manifest.n_rows:,} rows",
        _size(manifest.n_bytes),
        f"licence: {manifest.licence}",
        f"published {manifest.published_at[:16].replace('T', ' ')} UTC",
    )
    yield f'<article id="{folder}"><h2>{html.escape(manifest.title)}{mark}</h2>'
    yield f'<p class="facts">{html.escape(" · ".join(facts))}</p>'
    yield f"<p>{html.escape(_description(manifest))}</p>"
    yield f'<p><a href="{folder}/{README}">{README}</a> · <a href="{folder}/{NAME}">{NAME}</a></p>'
    yield f"<details><summary>Files: {len(manifest.files)}</summary><table>"
    for file in manifest.files:
        link = f'<a href="{folder}/{html.escape(quote(file.path))}">{html.escape(file.path)}</a>'
        yield f"<tr><td>{link}</td><td>{_size(file.n_bytes)}</td></tr>"
    yield "</table></details></article>"


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= _MEGABYTE else f"{n_bytes / 1e3:,.1f} kB"
