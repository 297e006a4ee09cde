"""GTFS feeds are valid by two validators, and a broken one is not."""

import csv
import io
import zipfile
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from benchmarks.validators import GTFS_DAMAGES, by_gtfs_guru, by_gtfs_validator, with_texts
from tests.exports.conftest import change
from transit_exports import ExportError, ExportSettings, Request, export

FEEDS = ["gtfs", "gtfs-retrospective"]
Rows = list[dict[str, str]]


def feed(settings: ExportSettings, form: str) -> Path:
    return export(settings, Request((), form, allows_incomplete=True)).folder / "gtfs.zip"


def table(path: Path, name: str) -> Rows:
    with zipfile.ZipFile(path) as archive:
        return list(csv.DictReader(io.StringIO(archive.read(f"{name}.txt").decode())))


@pytest.mark.parametrize("form", FEEDS)
def test_a_feed_is_valid_by_both_validators(placed: ExportSettings, form: str) -> None:
    path = feed(placed, form)

    assert {} == by_gtfs_guru(path).errors
    assert {} == by_gtfs_validator(path).errors


@pytest.mark.long
@pytest.mark.parametrize("damage", GTFS_DAMAGES)
def test_a_broken_feed_is_refused_by_both_validators(
    placed: ExportSettings, tmp_path: Path, damage: str
) -> None:
    broken = with_texts(feed(placed, "gtfs"), tmp_path / "broken.zip", GTFS_DAMAGES[damage])

    assert by_gtfs_guru(broken).errors
    assert by_gtfs_validator(broken).errors


def test_only_the_departure_from_the_origin_is_exact(placed: ExportSettings) -> None:
    exact: dict[str, list[str]] = {}
    for row in table(feed(placed, "gtfs"), "stop_times"):
        exact.setdefault(row["trip_id"], []).append(row["timepoint"])

    assert exact
    assert all(["1", *["0"] * (len(trip) - 1)] == trip for trip in exact.values())


def test_a_time_that_contradicts_those_around_it_is_not_exported(placed: ExportSettings) -> None:
    change(
        placed,
        "update intermediate.scheduled_calls set scheduled_seconds = departure_seconds where position = 3",
    )
    times: dict[str, list[str]] = {}
    for row in table(feed(placed, "gtfs"), "stop_times"):
        times.setdefault(row["trip_id"], []).append(row["arrival_time"])

    assert times
    assert all(trip == sorted(set(trip)) for trip in times.values())


def test_the_times_of_a_trip_never_go_back_where_its_learned_running_times_do(placed: ExportSettings) -> None:
    change(
        placed,
        "update intermediate.line_travel_times set travel_seconds = -travel_seconds "
        "where position between 3 and 5",
        "update intermediate.scheduled_calls set schedule_source = 'running_time' "
        "where position between 3 and 5",
    )
    times: dict[str, list[str]] = {}
    for row in table(feed(placed, "gtfs"), "stop_times"):
        times.setdefault(row["trip_id"], []).append(row["arrival_time"])

    assert times
    assert all(trip == sorted(trip) for trip in times.values())


@pytest.mark.parametrize("form", FEEDS)
def test_a_feed_names_its_language_its_operator_and_its_publisher(placed: ExportSettings, form: str) -> None:
    settings = replace(placed, language="de-CH")
    path = feed(settings, form)
    [info], [agency] = table(path, "feed_info"), table(path, "agency")

    assert ("de-CH", "de-CH") == (info["feed_lang"], agency["agency_lang"])
    assert [("City of Tests", "1", "0"), ("emulated", "0", "1")] == [
        (each["organization_name"], each["is_producer"], each["is_operator"])
        for each in table(path, "attributions")
    ]


def test_a_trip_that_ran_shows_the_headsign_of_its_departure(placed: ExportSettings) -> None:
    ran = {
        trip["trip_id"]: trip["trip_headsign"] for trip in table(feed(placed, "gtfs-retrospective"), "trips")
    }
    scheduled = {trip["trip_id"]: trip["trip_headsign"] for trip in table(feed(placed, "gtfs"), "trips")}
    with duckdb.connect(placed.database, read_only=True) as connection:
        matched = dict(
            connection.execute(
                "select trip_id_performed, trip_id_scheduled from core.trips where trip_id_scheduled != ''"
            ).fetchall()
        )

    assert all(ran.values())
    assert matched.keys() & ran.keys()
    assert all(ran[trip] == scheduled[matched[trip]] for trip in matched.keys() & ran.keys())


def test_a_route_has_the_type_that_is_told_and_is_a_bus_where_none_is(placed: ExportSettings) -> None:
    types = {row["route_short_name"]: row["route_type"] for row in table(feed(placed, "gtfs"), "routes")}

    assert "2" == types.pop("FGC")
    assert {"3"} == {*types.values()}
    change(placed, "update core.latest_lines set route_type = if(line_number = '1', 0, null)")
    types = {row["route_short_name"]: row["route_type"] for row in table(feed(placed, "gtfs"), "routes")}
    assert {"1": "0"} == {number: kind for number, kind in types.items() if kind != "3"}


def test_the_feed_says_what_is_missing(placed: ExportSettings) -> None:
    [row] = table(feed(placed, "gtfs"), "feed_info")

    assert "learned running times" in row["feed_comment"]
    assert "fares" in row["feed_comment"]


@pytest.mark.parametrize("form", FEEDS)
def test_a_feed_without_places_of_stops_is_refused_unless_it_is_asked_for(
    published: ExportSettings, form: str
) -> None:
    with pytest.raises(ExportError, match="stops have no place"):
        export(published, Request((), form))

    [row] = table(feed(published, form), "feed_info")
    assert "stops have no place" in row["feed_comment"]


def test_stops_with_places_are_exported_as_geometry(placed: ExportSettings) -> None:
    asked = Request(("core.stops",), "geoparquet")
    folder = export(placed, asked).folder
    [file] = folder.rglob("*.parquet")

    [(n_rows, n_places)] = duckdb.execute(f"select count(*), count(geometry) from '{file}'").fetchall()
    assert n_rows == n_places > 0


@pytest.mark.parametrize("form", [*FEEDS, "geojson", "geoparquet"])
def test_two_feeds_of_the_same_rows_have_the_same_bytes(placed: ExportSettings, form: str) -> None:
    asked = Request(() if form in FEEDS else ("stops",), form, allows_incomplete=True)
    first, second = (
        {path.name: path.read_bytes() for path in export(placed, asked).folder.rglob("*") if path.is_file()}
        for _ in range(2)
    )

    assert first == second
