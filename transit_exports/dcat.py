"""Describes exported datasets for data portals: DCAT-AP as JSON-LD, with the fields that it recommends."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urljoin

from transit_exports.formats import FORMATS
from transit_exports.manifest import Dataset, File, Manifest
from transit_exports.settings import NO_LICENCE, ExportSettings, licence_address

_CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dcatap": "http://data.europa.eu/r5r/",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "adms": "http://www.w3.org/ns/adms#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
}
_MEDIA_TYPES = "https://www.iana.org/assignments/media-types/"
_AUTHORITY = "http://publications.europa.eu/resource/authority"
_THEMES = f"{_AUTHORITY}/data-theme"
_STANDARDS = {
    "csv": "https://specs.frictionlessdata.io/table-schema/",
    "tides": "https://tides-transit.org/",
    "gtfs": "https://gtfs.org/documentation/schedule/",
    "gtfs-retrospective": "https://gtfs.org/documentation/schedule/",
    "gtfs-rt": "https://gtfs.org/documentation/realtime/",
}


def catalogue(settings: ExportSettings, publisher: str, datasets: Sequence[Dataset]) -> dict[str, Any]:
    """Return the catalogue of some datasets, each with a distribution for each format."""
    base = settings.address
    agent = {"@type": "foaf:Agent", "foaf:name": publisher} | _link("foaf:homepage", settings.publisher_url)
    modified = max((each.newest.modified_at for each in datasets), default="")
    return {
        "@context": _CONTEXT,
        "@id": base or "./",
        "@type": "dcat:Catalog",
        "dct:title": f"Datasets of {publisher}",
        "dct:description": "Punctuality, service delivered and disruptions of public transport, with bounds.",
        "dct:publisher": agent,
        "dct:language": {"@id": f"{_AUTHORITY}/language/ENG"},
        "dcat:themeTaxonomy": {"@id": _THEMES},
        **_link("foaf:homepage", base),
        **_licence(settings.licence),
        **({"dct:modified": _typed("dateTime", modified)} if modified else {}),
        **_spatial(datasets[0].newest if datasets else None),
        "dcat:dataset": [_dataset(base, agent, each) for each in datasets],
    }


def _link(name: str, address: str | None) -> dict[str, Any]:
    return {name: {"@id": address}} if address else {}


def _dataset(base: str, publisher: dict[str, Any], dataset: Dataset) -> dict[str, Any]:
    newest = dataset.newest
    page = urljoin(base, f"{quote(newest.dataset)}/index.html")
    return {
        "@id": f"{base}#{quote(dataset.subject)}",
        "@type": "dcat:Dataset",
        "dct:identifier": newest.identifier or dataset.subject,
        "dct:title": newest.title,
        "dct:description": description(newest),
        "dct:publisher": publisher,
        **_contact(newest),
        "dcat:keyword": list(newest.keywords),
        "dcat:theme": {"@id": f"{_THEMES}/TRAN"},
        **_spatial(newest),
        "dct:temporal": {
            "@type": "dct:PeriodOfTime",
            "dcat:startDate": _typed("date", newest.first_date),
            "dcat:endDate": _typed("date", newest.last_date),
        },
        "dct:modified": _typed("dateTime", newest.modified_at or newest.published_at),
        "dcat:version": newest.version,
        "adms:versionNotes": json.dumps(newest.versions),
        "dct:language": {"@id": f"{_AUTHORITY}/language/ENG"},
        **_link("dct:conformsTo", _STANDARDS.get(newest.format) if newest.group == "feeds" else None),
        "dcat:landingPage": {"@id": page},
        "dcat:distribution": [_distribution(base, each) for each in dataset.formats],
    }


def description(manifest: Manifest) -> str:
    """Return what a dataset holds, in one paragraph."""
    meanings = " ".join([*(table["meaning"] for table in manifest.tables), *manifest.notes])
    reasons = "" if manifest.is_complete else f" Incomplete: {'; '.join(manifest.incomplete)}."
    return f"{meanings or manifest.title}{reasons}".replace("`", "")


def _contact(manifest: Manifest) -> dict[str, Any]:
    if not manifest.contact:
        return {}
    is_page = manifest.contact.startswith("http")
    address = {"@id": manifest.contact if is_page else f"mailto:{manifest.contact}"}
    point = {"@type": "vcard:Kind", "vcard:fn": manifest.publisher}
    return {"dcat:contactPoint": point | {"vcard:hasURL" if is_page else "vcard:hasEmail": address}}


def _spatial(manifest: Manifest | None) -> dict[str, Any]:
    """Return the rectangle around all stops; nothing where no place is known."""
    if manifest is None or manifest.bounds is None:
        return {}
    west, south, east, north = manifest.bounds
    corners = ((west, south), (east, south), (east, north), (west, north), (west, south))
    polygon = f"POLYGON(({', '.join(f'{x} {y}' for x, y in corners)}))"
    box = {"@type": "geo:wktLiteral", "@value": polygon}
    return {"dct:spatial": {"@type": "dct:Location", "dcat:bbox": box}}


def _distribution(base: str, manifest: Manifest) -> dict[str, Any]:
    """Return a format of a dataset: its files of all months are one distribution."""
    folder = urljoin(base, f"{quote(manifest.dataset)}/")
    files = [file for file in manifest.files if file.table]
    form = FORMATS.get(manifest.format)
    return {
        "@type": "dcat:Distribution",
        "dct:title": form.title if form else manifest.format,
        "dct:description": f"{len(files)} files, {manifest.n_rows} rows",
        "dcat:accessURL": {"@id": urljoin(folder, "index.html")},
        "dcat:downloadURL": [{"@id": urljoin(folder, quote(file.path))} for file in files],
        **_media_type(manifest.media_type),
        **_file_type(form.file_type if form else ""),
        **_link("dct:conformsTo", _STANDARDS.get(manifest.format)),
        "dcat:byteSize": _typed("nonNegativeInteger", str(manifest.n_data_bytes)),
        "dct:modified": _typed("dateTime", manifest.modified_at or manifest.published_at),
        "dcatap:availability": {"@id": f"{_AUTHORITY}/planned-availability/AVAILABLE"},
        **_licence(manifest.licence),
        **(_checksum(files[0]) if len(files) == 1 else {}),
    }


def _checksum(file: File) -> dict[str, Any]:
    return {
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": _typed("hexBinary", file.sha256),
        }
    }


def _typed(kind: str, value: str) -> dict[str, str]:
    return {"@type": f"xsd:{kind}", "@value": value}


def _media_type(name: str) -> dict[str, Any]:
    """Return the media type as the address of its registration; one that has none as a name."""
    if "/x-" in name:
        return {"dct:format": {"@type": "dct:MediaTypeOrExtent", "rdfs:label": name}}
    return {"dcat:mediaType": {"@id": f"{_MEDIA_TYPES}{name}"}}


def _file_type(code: str) -> dict[str, Any]:
    return {"dct:format": {"@id": f"{_AUTHORITY}/file-type/{code}"}} if code else {}


def _licence(text: str) -> dict[str, Any]:
    """Return a licence by its address; one that has none by its name."""
    if text == NO_LICENCE:
        return {}
    if address := licence_address(text):
        return {"dct:license": {"@id": address}}
    return {"dct:license": {"@type": "dct:LicenseDocument", "rdfs:label": text}}
