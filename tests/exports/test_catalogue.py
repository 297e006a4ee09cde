"""The catalogue describes every exported dataset, as DCAT-AP asks for it."""

import json
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
    assert ("text/csv", "CC-BY-4.0") == (distribution["dcat:mediaType"], distribution["dct:license"])
    assert 64 == len(distribution["spdx:checksum"]["spdx:checksumValue"]["@value"])


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
