"""GTFS feeds are valid by two validators, and a broken one is not."""

import csv
import io
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import duckdb
import gtfs_guru
import pytest

from transit_etl.exports import ExportError, Request, export
from transit_etl.paths import published_database
from transit_etl.settings import Settings

pytestmark = pytest.mark.xdist_group("warehouse")  # one rehearsal for all
FEEDS = ["gtfs", "gtfs-retrospective"]
Rows = list[dict[str, str]]


def feed(settings: Settings, form: str) -> Path:
    return export(settings, Request((), form, allows_incomplete=True)).folder / "gtfs.zip"


def table(path: Path, name: str) -> Rows:
    with zipfile.ZipFile(path) as archive:
        return list(csv.DictReader(io.StringIO(archive.read(f"{name}.txt").decode())))


def errors_of_guru(path: Path) -> set[str]:
    return {notice.code for notice in gtfs_guru.validate(str(path)).errors()}


def errors_of_gtfs_validator(path: Path) -> set[str]:
    program = Path(sys.executable).with_name("gtfs-validator")
    done = subprocess.run(
        [program, "--input", path, "--stdout"], check=True, capture_output=True, cwd=path.parent
    )
    return {each["code"] for each in json.loads(done.stdout)["notices"] if each["severity"] == "ERROR"}


@pytest.mark.parametrize("form", FEEDS)
def test_a_feed_is_valid_by_both_validators(placed: Settings, form: str) -> None:
    path = feed(placed, form)

    assert set() == errors_of_guru(path)
    assert set() == errors_of_gtfs_validator(path)


BREAKAGES: dict[str, Callable[[dict[str, str]], dict[str, str]]] = {
    "a time that is none": lambda texts: {"stop_times": texts["stop_times"].replace(":00", ":77", 1)},
    "a stop that is missing": lambda texts: {"stops": texts["stops"].rsplit("\n", 2)[0] + "\n"},
    "a route without a name": lambda texts: {"routes": texts["routes"].replace("route_id", "route", 1)},
    "no agency": lambda texts: {"agency": texts["agency"].splitlines()[0] + "\n"},
}


@pytest.mark.parametrize("breakage", BREAKAGES)
def test_a_broken_feed_is_refused_by_both_validators(placed: Settings, tmp_path: Path, breakage: str) -> None:
    with zipfile.ZipFile(feed(placed, "gtfs")) as archive:
        texts = {name.removesuffix(".txt"): archive.read(name).decode() for name in archive.namelist()}
    broken = tmp_path / "broken.zip"
    with zipfile.ZipFile(broken, "w") as archive:
        for name, text in (texts | BREAKAGES[breakage](texts)).items():
            archive.writestr(f"{name}.txt", text)

    assert errors_of_guru(broken)
    assert errors_of_gtfs_validator(broken)


def test_every_departure_of_the_timetable_is_a_trip(placed: Settings) -> None:
    path = feed(placed, "gtfs")
    with duckdb.connect(published_database(placed.data_dir), read_only=True) as connection:
        departures = connection.execute("""
            select
                line_code,
                printf('%02d:%02d:00', service_seconds // 3600, service_seconds // 60 % 60),
                count(*)
            from core.scheduled_departures
            where is_in_force and service_date = (select max(service_date) from core.service_days)
            group by all order by all
        """).fetchall()
    routes = {row["trip_id"]: row["route_id"] for row in table(path, "trips")}
    starts: dict[str, str] = {}
    for row in table(path, "stop_times"):
        starts.setdefault(row["trip_id"], row["departure_time"])
    found: dict[tuple[str, str], int] = {}
    for trip, start in starts.items():
        found[routes[trip], start] = found.get((routes[trip], start), 0) + 1

    assert departures == [(*key, n_trips) for key, n_trips in sorted(found.items())]


@pytest.mark.parametrize("form", FEEDS)
def test_times_never_go_back_along_a_trip(placed: Settings, form: str) -> None:
    times: dict[str, list[str]] = {}
    for row in table(feed(placed, form), "stop_times"):
        times.setdefault(row["trip_id"], []).append(row["arrival_time"])

    assert times
    assert all(trip == sorted(trip) and len(trip) > 1 for trip in times.values())


def test_only_the_departure_from_the_origin_is_exact(placed: Settings) -> None:
    rows = table(feed(placed, "gtfs"), "stop_times")

    assert {"0"} == {row["timepoint"] for row in rows if row["stop_sequence"] != "1"}


def test_the_feed_says_what_is_missing(placed: Settings) -> None:
    [row] = table(feed(placed, "gtfs"), "feed_info")

    assert "learned running times" in row["feed_comment"]
    assert "fares" in row["feed_comment"]


@pytest.mark.parametrize("form", FEEDS)
def test_a_feed_without_places_of_stops_is_refused_unless_it_is_asked_for(
    published: Settings, form: str
) -> None:
    with pytest.raises(ExportError, match="stops have no place"):
        export(published, Request((), form))

    [row] = table(feed(published, form), "feed_info")
    assert "stops have no place" in row["feed_comment"]


def test_stops_with_places_are_exported_as_geometry(placed: Settings) -> None:
    asked = Request(("core.stops",), "geoparquet")
    folder = export(placed, asked).folder
    [file] = folder.rglob("*.parquet")

    [(n_rows, n_places)] = duckdb.execute(f"select count(*), count(geometry) from '{file}'").fetchall()
    assert n_rows == n_places > 0


@pytest.mark.parametrize("form", [*FEEDS, "geojson", "geoparquet"])
def test_two_feeds_of_the_same_rows_have_the_same_bytes(placed: Settings, form: str) -> None:
    asked = Request(() if form in FEEDS else ("stops",), form, allows_incomplete=True)
    first, second = (
        {path.name: path.read_bytes() for path in export(placed, asked).folder.rglob("*") if path.is_file()}
        for _ in range(2)
    )

    assert first == second
