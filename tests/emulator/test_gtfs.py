from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple
from zipfile import ZipFile

import pytest

from transit_emulator.networks.gtfs_feed import BadFeedError
from transit_emulator.networks.stops_file import write_stops
from transit_emulator.world import World, build_world

BARI = Path(__file__).parents[3] / "shared" / "networks" / "bari" / "google_transit.zip"
MONDAY, TUESDAY, SUNDAY = date(2026, 3, 2), date(2026, 3, 3), date(2026, 3, 8)
TABLES = {
    "agency.txt": "agency_id,agency_name,agency_url,agency_timezone\n1,A,http://a.example,Europe/Rome\n",
    "calendar.txt": "service_id,monday,tuesday,wednesday,thursday,friday,saturday,sunday,"
    "start_date,end_date\n"
    "W,1,1,1,1,1,0,0,20260301,20260331\n",
    "calendar_dates.txt": "service_id,date,exception_type\nW,20260303,2\nS,20260308,1\n",
    "stops.txt": "\ufeffstop_id,stop_code,stop_name,location_type\n"
    "a,0001,Alfa,0\nb,0002,Beta,0\nc,0003,P. Gamma,\nstation,,Station,1\n",
    "routes.txt": "route_id,route_short_name,route_long_name,route_type\n"
    "r2,2,Two,3\nr2s,2/,Two short,3\nra,A,Letter,3\nm,M1,Metro,1\n",
    "trips.txt": "route_id,service_id,trip_id,trip_headsign,direction_id\n"
    "r2,W,t1,,0\nr2,W,t2,Alfa,1\nr2,W,late,,0\nr2,W,early,,0\nr2,W,short,,0\nr2s,S,s1,,0\nra,W,f,,\nm,W,m1,,0\n",
    "stop_times.txt": "trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"
    "t1,08:00:00,08:00:00,a,1\nt1,,,b,5\nt1,08:10:00,08:10:30,c,9\n"
    "t2,09:00:00,09:00:00,c,1\nt2,9:05:00,9:05:00,b,2\nt2,09:10:00,09:10:00,a,3\n"
    "late,24:50:00,24:50:00,a,1\nlate,24:55:00,24:55:00,b,2\nlate,25:00:00,25:00:00,c,3\n"
    "early,00:30:00,00:30:00,a,1\nearly,00:35:00,00:35:00,b,2\nearly,00:40:00,00:40:00,c,3\n"
    "short,10:00:00,10:00:00,a,1\nshort,10:05:00,10:05:00,b,2\n"
    "s1,10:00:00,10:00:00,a,1\ns1,10:05:00,10:05:00,b,2\n"
    "f,00:00:00,00:00:00,a,1\nf,00:07:00,00:07:00,b,2\n"
    "m1,08:00:00,08:00:00,a,1\nm1,08:02:00,08:02:00,b,2\n",
    "frequencies.txt": "trip_id,start_time,end_time,headway_secs\nf,06:00:00,06:30:00,600\n",
}


def zipped(folder: Path, **changed: str) -> Path:
    """Write a feed of TABLES, some of them replaced."""
    path = folder / "feed.zip"
    with ZipFile(path, "w") as archive:
        for name, text in (TABLES | {name + ".txt": text for name, text in changed.items()}).items():
            archive.writestr(name, text)
    return path


@pytest.fixture
def feed_world(tmp_path: Path) -> World:
    return build_world(gtfs=zipped(tmp_path))


class LegDepartures(NamedTuple):
    """The departures of a leg, as the timetable writes them."""

    service: str
    description: str
    texts: list[str]


def departures(world: World, code: str, day: date) -> list[LegDepartures]:
    """List the legs of a line's timetable."""
    return [
        LegDepartures(service.code, leg.description, [departure.text for departure in leg.departures])
        for service in world.timetable(world.line(code), day)
        for leg in service.legs
    ]


def test_lines_get_codes_from_their_numbers_and_letters_from_900(feed_world: World) -> None:
    lines = {line.number: line.code for line in feed_world.network.lines}

    assert lines == {"2": "002-00", "2/": "002-01", "A": "900-00", "M1": "001-00"}


def test_a_station_is_not_a_stop_and_stop_codes_are_unchanged(feed_world: World) -> None:
    assert [stop.code for stop in feed_world.network.stops] == ["0001", "0002", "0003"]


def test_stops_have_the_names_and_places_of_the_feed(tmp_path: Path) -> None:
    rows = "a,0001,Alfa,44.1,8.9\nb,0002,Beta,,\nc,0003,C,1,2\n"
    feed = zipped(tmp_path, stops=f"stop_id,stop_code,stop_name,stop_lat,stop_lon\n{rows}")
    network = build_world(gtfs=feed).network
    lines = write_stops(network, tmp_path / "open" / "stops.csv").read_text().splitlines()

    assert ["stop_code,stop_name,latitude,longitude", "0001,Alfa,44.1,8.9", "0002,Beta,,"] == lines[:3]


def test_a_place_that_is_no_number_is_refused(tmp_path: Path) -> None:
    stops = "stop_id,stop_code,stop_name,stop_lat,stop_lon\na,1,A,north,8\nb,2,B,1,2\nc,3,C,1,2\n"

    with pytest.raises(BadFeedError, match=r"stops.txt, stop a: .*'north'"):
        build_world(gtfs=zipped(tmp_path, stops=stops))


def test_the_exceptions_of_the_calendar_apply(feed_world: World) -> None:
    calendar = feed_world.network.calendar

    assert "W" in calendar.services_on(MONDAY)
    assert "W" not in calendar.services_on(TUESDAY)
    assert calendar.services_on(SUNDAY) == {"S", "W@night"}
    assert calendar.services_on(date(2026, 4, 1)) == frozenset()
    assert (calendar.first_date, calendar.last_date) == (MONDAY, date(2026, 3, 31))


def test_a_feed_of_calendar_dates_alone_is_enough(tmp_path: Path) -> None:
    world = build_world(gtfs=zipped(tmp_path, calendar=TABLES["calendar.txt"].splitlines()[0] + "\n"))

    assert world.network.calendar.first_date == world.network.calendar.last_date == SUNDAY


def test_services_are_grouped_by_their_ends_and_a_shorter_one_is_barrato(feed_world: World) -> None:
    main, short = feed_world.timetable(feed_world.line("002-00"), MONDAY)

    assert (main.code, main.is_slash, short.code, short.is_slash) == ("01", False, "02", True)
    assert [leg.description for leg in main.legs] == ["Alfa - P. Gamma", "P. Gamma - Alfa"]
    assert [departure.text for departure in short.legs[0].departures] == ["10:00"]


def test_trips_before_the_cutoff_belong_to_the_previous_service_day(feed_world: World) -> None:
    schedule = feed_world.schedule(SUNDAY)
    names = [feed_world.network.trips[trip].id for trip in schedule.trips]
    early = schedule.scheduled_at[names.index("early"), 0]

    assert datetime.fromtimestamp(early, UTC) == datetime(2026, 3, 8, 23, 30, tzinfo=UTC)
    late = feed_world.schedule(MONDAY)
    names = [feed_world.network.trips[trip].id for trip in late.trips]
    assert datetime.fromtimestamp(late.scheduled_at[names.index("late"), 0], UTC) == datetime(
        2026, 3, 2, 23, 50, tzinfo=UTC
    )


def test_a_missing_stop_time_is_interpolated(feed_world: World) -> None:
    schedule = feed_world.schedule(MONDAY)
    names = [feed_world.network.trips[trip].id for trip in schedule.trips]
    times = schedule.scheduled_at[names.index("t1")] - schedule.starts_at

    assert times.tolist() == [28_800, 29_100, 29_400]


def test_headways_become_trips(feed_world: World) -> None:
    assert departures(feed_world, "900-00", MONDAY) == [("01", "Alfa - Beta", ["06:00", "06:10", "06:20"])]


def test_names_of_columns_may_be_padded(tmp_path: Path) -> None:
    padded = TABLES["routes.txt"].replace("route_type\n", "route_type   \n")

    assert len(build_world(gtfs=zipped(tmp_path, routes=padded)).network.lines) == 4


def test_routes_of_a_railway_without_directions_are_lines_that_are_tracked_both_ways(tmp_path: Path) -> None:
    world = build_world(
        gtfs=zipped(
            tmp_path,
            routes="route_id,route_short_name,route_type\nthere,C1,2\nback,C1,2\nother,C1,2\n",
            trips="route_id,service_id,trip_id\nthere,W,t1\nthere,W,t2\nback,W,t3\nother,W,t4\n",
            stops="stop_id,stop_name\na,Alfa\nb,Beta\nc,Gamma\nx,Xi\ny,Ypsilon\n",
            stop_times="trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"
            "t1,08:00:00,,a,1\nt1,08:05:00,,b,2\nt1,08:10:00,,c,3\n"
            "t2,09:00:00,,a,1\nt2,09:05:00,,b,2\n"
            "t3,10:00:00,,c,1\nt3,10:05:00,,b,2\nt3,10:10:00,,a,3\n"
            "t4,11:00:00,,x,1\nt4,11:05:00,,y,2\n",
            frequencies="trip_id,start_time,end_time,headway_secs\n",
        )
    )

    lines = {
        line.code: [[stop.stop_code for stop in stops] for stops in line.stops.values()]
        for line in world.network.lines
    }
    assert lines == {"001-01": [["a", "b", "c"], ["c", "b", "a"]], "001-00": [["x", "y"]]}
    assert all(line.is_tracked for line in world.network.lines)


def test_a_date_outside_of_the_feed_has_no_departures(feed_world: World) -> None:
    assert not any(leg.texts for leg in departures(feed_world, "002-00", date(2027, 1, 1)))
    assert feed_world.passages("0001", datetime(2027, 1, 1, 9, tzinfo=UTC)) == []


def test_a_metro_is_never_live(feed_world: World) -> None:
    rows = feed_world.passages("0002", datetime(2026, 3, 2, 6, 59, tzinfo=UTC))

    assert [row.is_theoretical for row in rows if row.line_code == "001-00"] == [True]


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ("stop_times", "trip_id,arrival_time,departure_time,stop_id,stop_sequence\nt1,8h,8h,a,1\n"),
        ("stops", "stop_id,stop_code,stop_name\nx,1,X\n"),
        ("agency", "agency_id,agency_name,agency_url,agency_timezone\n1,A,http://a.example,Europe/Nowhere\n"),
        ("calendar_dates", "service_id,date,exception_type\nW,tomorrow,1\n"),
    ],
)
def test_a_feed_that_cannot_be_read_raises_an_error(tmp_path: Path, table: str, text: str) -> None:
    with pytest.raises(BadFeedError):
        build_world(gtfs=zipped(tmp_path, **{table: text}))


def test_the_error_about_a_file_that_is_not_a_zip_names_it(tmp_path: Path) -> None:
    path = tmp_path / "feed.zip"
    path.write_text("no zip")

    with pytest.raises(BadFeedError, match=r"feed\.zip"):
        build_world(gtfs=path)


@pytest.mark.skipif(not BARI.exists(), reason=f"no real feed at {BARI}")
def test_all_of_a_real_feed_is_served() -> None:
    world = build_world(gtfs=BARI)
    wednesday = date(2026, 10, 14)

    schedule = world.schedule(wednesday)
    n_scheduled = int((~schedule.is_added).sum())

    assert (len(world.network.lines), len(world.network.stops)) == (82, 1119)
    assert 4_200 < n_scheduled < 4_400
    assert len({line.code for line in world.network.lines}) == 82
    assert any(line.number == "02/" for line in world.network.lines)
    now = datetime(2026, 10, 14, 6, tzinfo=UTC)
    listed = [row for stop in world.network.stops for row in world.passages(stop.code, now)]
    assert len(listed) > 3_000
    assert 0.2 < sum(row.is_theoretical for row in listed) / len(listed) < 0.8
    n_departures = sum(
        len(leg.texts) for line in world.network.lines for leg in departures(world, line.code, wednesday)
    )
    assert n_departures == n_scheduled
