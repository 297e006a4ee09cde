"""The catalogue describes every exported dataset, as DCAT-AP asks for it."""

import json
import re
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from tests.exports.conftest import change
from tests.warehouse.rehearsed import DAY
from transit_exports import ExportSettings, Request, export


def catalogue(settings: ExportSettings) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((settings.folder / "catalogue.jsonld").read_text())
    return found


def test_a_dataset_has_what_dcat_ap_asks_for_and_recommends(placed: ExportSettings) -> None:
    settings = replace(placed, address="https://data.test/transit/", contact="data@city.test")
    export(settings, Request(("core.lines",), "csv"))

    found = catalogue(settings)
    [dataset] = found["dcat:dataset"]
    [distribution] = dataset["dcat:distribution"]
    assert {"dct:title", "dct:description", "dct:publisher", "dct:license", "dct:spatial"} <= found.keys()
    assert {"dct:title", "dct:description", "dct:publisher", "dct:temporal", "dct:modified"} <= dataset.keys()
    assert "Lines, City of Tests" == dataset["dct:title"]
    assert {"@id": "mailto:data@city.test"} == dataset["dcat:contactPoint"]["vcard:hasEmail"]
    assert "public transport" in dataset["dcat:keyword"]
    assert "POLYGON((8.9 44." in dataset["dct:spatial"]["dcat:bbox"]["@value"]
    assert "https://data.test/transit/#lines" == dataset["@id"] == dataset["dct:identifier"]
    assert [{"@id": "https://data.test/transit/lines-csv/lines/lines.csv"}] == distribution[
        "dcat:downloadURL"
    ]
    assert {"@id": "https://www.iana.org/assignments/media-types/text/csv"} == distribution["dcat:mediaType"]
    assert distribution["dct:format"]["@id"].endswith("/file-type/CSV")
    assert {"@id": "https://spdx.org/licenses/CC-BY-4.0"} == distribution["dct:license"]
    assert 64 == len(distribution["spdx:checksum"]["spdx:checksumValue"]["@value"])


def test_formats_of_one_table_are_distributions_of_one_dataset(published: ExportSettings) -> None:
    export(published, Request(("core.lines",), "csv"))
    export(published, Request(("core.lines",), "parquet"))

    [dataset] = catalogue(published)["dcat:dataset"]
    assert ["CSV (RFC 4180)", "Parquet"] == [each["dct:title"] for each in dataset["dcat:distribution"]]
    page = (published.folder / "index.html").read_text()
    assert 1 == page.count("<article")
    assert "What was planned and what was observed" in page
    assert {"lines-csv/index.html", "lines-parquet/index.html"} <= {*re.findall('href="([^"]+)"', page)}


def test_a_dataset_says_how_it_is_cited(published: ExportSettings) -> None:
    settings = replace(published, address="https://data.test/transit/")
    folder = export(settings, Request(("core.lines",), "csv")).folder

    manifest = json.loads((folder / "manifest.json").read_text())
    for name in ("README.md", "index.html"):
        text = (folder / name).read_text()
        assert "City of Tests (2026): Lines, City of Tests. Version " + manifest["version"] in text
        assert "https://data.test/transit/#lines" in text


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("https://licence.test/open", {"@id": "https://licence.test/open"}),
        ("Open to all", {"@type": "dct:LicenseDocument", "rdfs:label": "Open to all"}),
        ("not stated", None),
    ],
)
def test_a_licence_is_an_address_or_a_document_with_a_name(
    published: ExportSettings, licence: str, expected: object
) -> None:
    settings = replace(published, licence=licence)
    export(settings, Request(("core.lines",), "csv"))

    [dataset] = catalogue(settings)["dcat:dataset"]
    assert expected == dataset["dcat:distribution"][0].get("dct:license")


def test_without_a_publisher_the_index_names_the_operator_of_the_published_file(
    published: ExportSettings,
) -> None:
    change(published, "update quality.operators set operator = 'Other Buses'")
    settings = replace(published, publisher="", operator="Other Buses")
    export(settings, Request(("core.lines",), "csv"))

    found = catalogue(settings)
    [dataset] = found["dcat:dataset"]
    assert "Datasets of Other Buses" == found["dct:title"]
    assert "Other Buses" == found["dct:publisher"]["foaf:name"] == dataset["dct:publisher"]["foaf:name"]
    assert "<title>Datasets of Other Buses" in (settings.folder / "index.html").read_text()


def test_a_feed_says_what_it_is_and_which_standard_it_follows(published: ExportSettings) -> None:
    at = datetime(2026, 11, 18, 6, 30)  # noqa: DTZ001 - UTC, as the settings of an export have it
    export(published, Request((), "gtfs-rt", at=at, allows_incomplete=True))

    [dataset] = catalogue(published)["dcat:dataset"]
    assert "Service alerts (GTFS Realtime), 2026-11-18 06:30 UTC, City of Tests" == dataset["dct:title"]
    assert "An alert ends when" in dataset["dct:description"]
    assert {"@id": "https://gtfs.org/documentation/realtime/"} == dataset["dct:conformsTo"]


def test_texts_of_a_manifest_are_no_markup_of_the_page(published: ExportSettings) -> None:
    settings = replace(published, publisher="<script>alert(1)</script>")
    export(settings, Request(("core.lines",), "csv"))

    folder = settings.folder
    for page in (folder / "index.html", folder / "lines-csv" / "index.html"):
        text = page.read_text()
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert" in text


def test_an_incomplete_dataset_is_marked(published: ExportSettings) -> None:
    export(published, Request(("punctuality",), "csv", DAY.replace(day=1), allows_incomplete=True))

    [dataset] = catalogue(published)["dcat:dataset"]
    assert "Incomplete" in dataset["dct:description"]
    assert "incomplete" in (published.folder / "index.html").read_text()
