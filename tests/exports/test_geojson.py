"""GeoJSON has a feature for each row, with the place of its stop."""

import json

from transit_exports import ExportSettings, Request, export


def test_every_stop_is_a_feature_at_its_place(placed: ExportSettings) -> None:
    report = export(placed, Request(("core.stops",), "geojson"))
    [file] = report.folder.rglob("*.geojson")
    collection = json.loads(file.read_text(encoding="utf-8"))

    assert "FeatureCollection" == collection["type"]
    assert report.n_rows == len(collection["features"]) > 0
    for feature in collection["features"]:
        longitude, latitude = feature["geometry"]["coordinates"]
        assert (8.9, True) == (longitude, 44 < latitude < 45)
        assert f"Stop {feature['properties']['stop_code']}" == feature["properties"]["stop_name"]


def test_a_table_by_stop_gets_the_places_of_its_stops(placed: ExportSettings) -> None:
    report = export(placed, Request(("headways",), "geojson", allows_incomplete=True))
    [file] = report.folder.rglob("*.geojson")
    features = json.loads(file.read_text(encoding="utf-8"))["features"]

    assert features
    assert {"Point"} == {feature["geometry"]["type"] for feature in features}
