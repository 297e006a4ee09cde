"""Names and places of stops come from a reference file; what is wrong with one is said in one line."""

import shutil
import zipfile
from itertools import pairwise
from math import cos, hypot, radians
from pathlib import Path

import duckdb
import pytest

from transit_emulator.networks.network import Place
from transit_emulator.networks.stops_file import write_stops
from transit_emulator.world import build_world
from transit_etl import paths, warehouse
from transit_etl.settings import Settings
from transit_etl.warehouse.building.reference_files import ReferenceFileError
from transit_etl.warehouse.building.stop_names import RouteType, StopName, read_route_types, read_stop_names

GTFS = """stop_id,stop_code,stop_name,stop_lat,stop_lon,location_type
s1,12,DE FERRARI,44.4071,8.9347,0
s2,,PRINCIPE,44.4169,8.9206,
st,99,A STATION,44.0,8.0,1
s3,0013,"NERVI, MARE",,,
"""


def _file(folder: Path, text: str, name: str = "stops.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8-sig")
    return path


def metres_between(one: Place | None, other: Place | None) -> float:
    """Return the distance between two places that are near each other."""
    assert one is not None
    assert other is not None
    east = (other.longitude - one.longitude) * cos(radians(one.latitude))
    return 111_200 * hypot(other.latitude - one.latitude, east)


def test_a_feed_names_stops_by_code_or_id(tmp_path: Path) -> None:
    stops = read_stop_names(_file(tmp_path, GTFS, "stops.txt"))

    assert [
        StopName("0012", "DE FERRARI", 44.4071, 8.9347),
        StopName("s2", "PRINCIPE", 44.4169, 8.9206),
        StopName("0013", "NERVI, MARE", None, None),
    ] == stops


def test_a_zipped_feed_is_the_same(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "feed.zip", "w") as feed:
        feed.writestr("stops.txt", GTFS)

    assert read_stop_names(_file(tmp_path, GTFS)) == read_stop_names(tmp_path / "feed.zip")


def test_a_zipped_feed_tells_the_types_of_its_routes(tmp_path: Path) -> None:
    path = tmp_path / "feed.zip"
    with zipfile.ZipFile(path, "w") as feed:
        feed.writestr("stops.txt", GTFS)
    assert [] == read_route_types(path)

    with zipfile.ZipFile(path, "a") as feed:
        feed.writestr("routes.txt", "route_id,route_short_name,route_type\na,018/,3\nb,mm,1\nc,,2\n")

    assert [RouteType("18", 3), RouteType("MM", 1)] == read_route_types(path)
    assert [] == read_route_types(_file(tmp_path, GTFS, "stops.txt"))
    with zipfile.ZipFile(path, "w") as feed:
        feed.writestr("routes.txt", "route_id,route_short_name,route_type\na,18,bus\n")
    with pytest.raises(ReferenceFileError, match="line 2: route_type 'bus' is not a number"):
        read_route_types(path)


@pytest.mark.parametrize("size", ["small", "city"])
def test_the_emulators_file_has_the_name_and_place_of_every_stop(size: str, tmp_path: Path) -> None:
    network = build_world(size).network
    stops = read_stop_names(write_stops(network, tmp_path / "stops.csv"))

    assert [(stop.code, stop.name) for stop in network.stops] == [
        (stop.stop_code, stop.stop_name) for stop in stops
    ]
    assert len(stops) == len({(stop.latitude, stop.longitude) for stop in stops})


def test_neighbouring_stops_of_the_emulators_lines_are_close_to_each_other() -> None:
    network = build_world("small").network
    hops = [pair for pattern in network.patterns for pair in pairwise(pattern.stops)]
    apart = [metres_between(network.stops[one].place, network.stops[other].place) for one, other in hops]

    assert 200 < min(apart)
    assert 1_200 > max(apart)


def test_of_a_code_listed_twice_the_first_counts(tmp_path: Path) -> None:
    path = _file(tmp_path, "stop_code,stop_name\n1,A\n0001,B\n")

    assert [StopName("0001", "A", None, None)] == read_stop_names(path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "lists no stop"),
        ("stop_code,stop_name\n", "lists no stop"),
        ("code,stop_name\n1,A\n", "line 2: no stop_code or stop_id"),
        ("stop_code,stop_name\n1,A\n,B\n", "line 3: no stop_code or stop_id"),
        ("stop_code\n1\n", "line 2: no column stop_name or name"),
        ("stop_code,stop_name,latitude,longitude\n1,A,north,8\n", "line 2: latitude 'north' is not a number"),
        ("stop_code,stop_name,latitude,longitude\n1,A,91,8\n", "line 2: latitude 91 lies outside -90 to 90"),
        ("stop_code,stop_name,latitude,longitude\n1,A,nan,8\n", "lies outside"),
        ("stop_code,stop_name,latitude,longitude\n1,A,44,\n", "line 2: one coordinate without the other"),
        ('stop_code,stop_name\n1,"A\n', "cannot read the stops file"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ReferenceFileError, match=complaint):
        read_stop_names(_file(tmp_path, text))


def test_a_missing_file_and_a_zip_without_stops_say_so(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "feed.zip", "w") as feed:
        feed.writestr("routes.txt", "")

    with pytest.raises(ReferenceFileError, match=r"holds no stops\.txt"):
        read_stop_names(tmp_path / "feed.zip")
    with pytest.raises(ReferenceFileError, match="No such file"):
        read_stop_names(tmp_path / "none.csv")


def test_a_build_takes_the_names_over_without_building_any_date_again(
    built: Settings, tmp_path: Path
) -> None:
    data_dir = tmp_path / "data"
    shutil.copytree(built.data_dir, data_dir)
    stops = _file(tmp_path, "stop_code,stop_name,latitude,longitude\n1001,DE FERRARI,44.4,8.9\n")
    settings = built.model_copy(update={"data_dir": data_dir, "stops_file": stops})
    report = warehouse.build(settings)
    with duckdb.connect(paths.build_database(data_dir), read_only=True) as connection:
        names = connection.execute(
            "select stop_name, latitude, longitude from core.stops where stop_code = '1001'"
        ).fetchall()

    assert 0 == report.n_dates
    assert [("DE FERRARI", 44.4, 8.9)] == names
