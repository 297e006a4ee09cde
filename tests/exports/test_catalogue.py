"""The catalogue describes every exported dataset, as DCAT-AP asks for it."""

import json
from datetime import datetime
from typing import Any

import pytest

from tests.warehouse.rehearsed import DAY
from transit_etl.exports import Request, export
from transit_etl.paths import exports_dir
from transit_etl.settings import Settings

pytestmark = pytest.mark.xdist_group("warehouse")  # one rehearsal for all


def catalogue(settings: Settings) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((exports_dir(settings.data_dir) / "catalogue.jsonld").read_text())
    return found


def test_a_dataset_has_what_dcat_ap_asks_for(published: Settings) -> None:
    settings = published.model_copy(update={"export_url": "https://data.test/transit/"})
    export(settings, Request(("core.lines",), "csv"))

    found = catalogue(settings)
    [dataset] = found["dcat:dataset"]
    [distribution] = dataset["dcat:distribution"]
    assert {"dct:title", "dct:description", "dct:publisher"} <= found.keys()
    assert {"dct:title", "dct:description", "dct:publisher", "dct:temporal", "dct:modified"} <= dataset.keys()
    assert "https://data.test/transit/lines-csv/" == dataset["@id"]
    assert "https://data.test/transit/lines-csv/lines/lines.csv" == distribution["dcat:downloadURL"]["@id"]
    assert {"@id": "https://www.iana.org/assignments/media-types/text/csv"} == distribution["dcat:mediaType"]
    assert {"@id": "https://spdx.org/licenses/CC-BY-4.0"} == distribution["dct:license"]
    assert 64 == len(distribution["spdx:checksum"]["spdx:checksumValue"]["@value"])


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("https://licence.test/open", {"@id": "https://licence.test/open"}),
        ("Open to all", {"@type": "dct:LicenseDocument", "rdfs:label": "Open to all"}),
        (None, None),
    ],
)
def test_a_licence_is_an_address_or_a_document_with_a_name(
    published: Settings, licence: str | None, expected: object
) -> None:
    settings = published.model_copy(update={"export_licence": licence})
    export(settings, Request(("core.lines",), "csv"))

    [dataset] = catalogue(settings)["dcat:dataset"]
    assert expected == dataset["dcat:distribution"][0].get("dct:license")


def test_a_feed_says_what_it_is_and_which_standard_it_follows(published: Settings) -> None:
    at = datetime(2026, 11, 18, 6, 30)  # noqa: DTZ001 - UTC, as the settings of an export have it
    export(published, Request((), "gtfs-rt", at=at, allows_incomplete=True))

    [dataset] = catalogue(published)["dcat:dataset"]
    assert "GTFS Realtime, 2026-11-18 06:30 UTC" in dataset["dct:title"]
    assert "An alert ends when" in dataset["dct:description"]
    assert {"@id": "https://gtfs.org/documentation/realtime/"} == dataset["dct:conformsTo"]


def test_texts_of_a_manifest_are_no_markup_of_the_page(published: Settings) -> None:
    settings = published.model_copy(update={"publisher": "<script>alert(1)</script>"})
    export(settings, Request(("core.lines",), "csv"))

    page = (exports_dir(settings.data_dir) / "index.html").read_text()

    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_an_incomplete_dataset_is_marked(published: Settings) -> None:
    export(published, Request(("punctuality",), "csv", DAY.replace(day=1), allows_incomplete=True))

    [dataset] = catalogue(published)["dcat:dataset"]
    assert "Incomplete" in dataset["dct:description"]
    assert "incomplete" in (exports_dir(published.data_dir) / "index.html").read_text()
