"""Recorded days, replayed: what the network is made of, what the stops list, what the truth says."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pyarrow.parquet as pq
import pytest

from benchmarks.recorded_days import service_dates, simulated_table
from transit_emulator.days.motion import TripOutcome
from transit_emulator.days.trip_ids import IdMode
from transit_emulator.networks.actuals_table import BadActualsError
from transit_emulator.truth import write_truth
from transit_emulator.world import World, build_world, recorded_world

BOSTON = Path(__file__).parents[3] / "shared" / "networks" / "boston-2022"
NEW_YORK = ZoneInfo("America/New_York")
SATURDAY = date(2022, 1, 8)
COLUMNS = (
    "service_date,trip_id,line,direction,headsign,stop_code,stop_name,stop_sequence,scheduled_at,actual_at"
)
# Three trips out and one back; of the second the middle is not recorded, of the third nothing is.
OUT = (("t1", "08:00", ("08:01:00", "08:06:30", "08:12:00")), ("t2", "08:20", ("08:22:00", "", "08:36:00")),
       ("t3", "08:40", ("", "", "")))  # fmt: skip
BACK = ("t4", "09:00", ("09:00:00", "09:05:00", ""))
STOPS = (("1", "Alfa"), ("22", "Beta"), ("333", "Gamma"))


def row(trip: str, place: int, due: str, passed: str, *, direction: str = "Outbound") -> str:
    """Return a row of the table in its text form; times are clock times of the Saturday."""
    code, name = STOPS[place if direction == "Outbound" else -1 - place]
    actual = f"2022-01-08T{passed}-05:00" if passed else ""
    return f"2022-01-08,{trip},34E,{direction},,{code},{name},{place + 1},2022-01-08T{due}:00-05:00,{actual}"


def rows_of(trip: str, leaves: str, passed: tuple[str, ...], *, direction: str = "Outbound") -> list[str]:
    """Return the rows of a trip that is due at a stop every five minutes."""
    first = datetime.fromisoformat(f"2022-01-08T{leaves}")
    due = [f"{first + timedelta(minutes=5 * place):%H:%M}" for place in range(len(passed))]
    return [row(trip, place, due[place], at, direction=direction) for place, at in enumerate(passed)]


ROWS = [
    *(text for trip, leaves, passed in OUT for text in rows_of(trip, leaves, passed)),
    *rows_of(*BACK, direction="Inbound"),
]


def written(folder: Path, rows: list[str], columns: str = COLUMNS, name: str = "day.csv") -> Path:
    """Write a table of rows."""
    path = folder / name
    path.write_text("\n".join([columns, *rows]) + "\n")
    return path


@pytest.fixture
def world(tmp_path: Path) -> World:
    return recorded_world(written(tmp_path, ROWS), NEW_YORK)


def truth(world: World, folder: Path, table: str, trip: str) -> list[dict[str, Any]]:
    """Return the rows of a trip in a table of the truth about the Saturday."""
    write_truth(world, SATURDAY, SATURDAY, folder / "truth")
    found: list[dict[str, Any]] = pq.read_table(folder / "truth" / f"{table}.parquet").to_pylist()
    return [row for row in found if row["trip_id"] == trip]


def clock(world: World, trip: str, *, day: date = SATURDAY) -> list[str]:
    """Return when a trip passed its stops, as clocks showed it."""
    schedule, motion = world.schedule(day), world.motion(day)
    place = [world.network.trips[number].id for number in schedule.trips].index(trip)
    times = motion.passed_at[place][motion.is_passed[place]].tolist()
    return [f"{datetime.fromtimestamp(at, world.network.zone):%H:%M:%S}" for at in times]


def at(text: str) -> datetime:
    """Return an instant of the Saturday."""
    return datetime.fromisoformat(f"2022-01-08T{text}-05:00")


def outcomes(world: World, day: date = SATURDAY) -> dict[str, TripOutcome]:
    """Return how the trips of a date ran."""
    schedule, motion = world.schedule(day), world.motion(day)
    names = [world.network.trips[number].id for number in schedule.trips]
    return dict(zip(names, map(TripOutcome, motion.outcome), strict=True))


def test_the_network_is_that_of_the_table(world: World) -> None:
    (line,) = world.network.lines

    assert ("day", "034-00", "34E") == (world.network.name, line.code, line.number)
    assert ("Alfa", "Gamma") == line.termini
    assert [("0001", "Alfa"), ("0022", "Beta"), ("0333", "Gamma")] == [
        (stop.code, stop.name) for stop in world.network.stops
    ]
    assert ["0333", "0022", "0001"] == [stop.stop_code for stop in line.stops[1]]


def test_the_timetable_is_that_of_the_table(world: World) -> None:
    (service,) = world.timetable(world.line("034-00"), SATURDAY)

    assert [("Alfa - Gamma", ["08:00", "08:20", "08:40"]), ("Gamma - Alfa", ["09:00"])] == [
        (leg.description, [departure.text for departure in leg.departures]) for leg in service.legs
    ]
    assert not any(leg.departures for leg in world.timetable(0, SATURDAY + timedelta(days=1))[0].legs)


def test_recorded_times_are_the_truth_and_those_between_are_interpolated(
    world: World, tmp_path: Path
) -> None:
    calls = truth(world, tmp_path, "actual_passages", "t2")

    assert ["08:22:00", "08:29:00", "08:36:00"] == clock(world, "t2")
    assert [(True, False), (False, True), (True, False)] == [
        (call["is_recorded"], call["is_interpolated"]) for call in calls
    ]


def test_after_its_last_recorded_stop_a_trip_is_as_late_as_there_and_no_longer_tracked(
    world: World, tmp_path: Path
) -> None:
    (trip,) = truth(world, tmp_path, "trips", "t4")
    *_, last = truth(world, tmp_path, "actual_passages", "t4")

    assert "09:10:00" == clock(world, "t4")[-1]
    assert (False, False) == (last["is_recorded"], last["is_interpolated"])
    assert ("tracking_lost", datetime(2022, 1, 8, 14, 5, 1)) == (trip["outcome"], trip["lost_at"])  # noqa: DTZ001


def test_before_its_first_recorded_stop_a_trip_is_not_tracked(tmp_path: Path) -> None:
    rows = rows_of("t1", "08:00", ("", "08:06:30", "08:12:00"))
    world = recorded_world(written(tmp_path, rows), NEW_YORK)
    (trip,) = truth(world, tmp_path, "trips", "t1")

    assert ["08:01:30", "08:06:30", "08:12:00"] == clock(world, "t1")
    assert datetime(2022, 1, 8, 13, 1, 30) <= trip["live_from"] <= datetime(2022, 1, 8, 13, 5, 30)  # noqa: DTZ001


def test_a_trip_of_which_nothing_is_recorded_is_marked_and_passes_no_stop(
    world: World, tmp_path: Path
) -> None:
    (trip,) = truth(world, tmp_path, "trips", "t3")

    assert ("not_recorded", None) == (trip["outcome"], trip["live_from"])
    assert 3 == len(truth(world, tmp_path, "scheduled_passages", "t3"))
    assert [] == truth(world, tmp_path, "actual_passages", "t3")


def test_of_a_simulated_day_every_time_is_known(tmp_path: Path) -> None:
    write_truth(build_world(), SATURDAY, SATURDAY, tmp_path)
    calls = pq.read_table(tmp_path / "actual_passages.parquet")

    assert {(True, False)} == set(
        zip(calls["is_recorded"].to_pylist(), calls["is_interpolated"].to_pylist(), strict=True)
    )


def test_a_stop_lists_recorded_buses_live_until_they_pass(world: World) -> None:
    (before,) = [row for row in world.passages("0333", at("08:11:30")) if row.trip_id == "t1"]

    assert not before.is_theoretical
    assert abs(before.shown_at - at("08:12:00").timestamp()) < 60
    assert [] == [row for row in world.passages("0333", at("08:12:00")) if row.trip_id == "t1"]


def test_a_stop_lists_a_trip_that_was_not_recorded_until_it_is_due(world: World) -> None:
    (listed,) = [row for row in world.passages("0001", at("08:39:59")) if row.trip_id == "t3"]

    assert (True, at("08:40:00").timestamp()) == (listed.is_theoretical, listed.shown_at)
    assert [] == [row for row in world.passages("0001", at("08:40:00")) if row.trip_id == "t3"]


def test_a_recorded_day_has_no_other_trips_diversions_or_weather(tmp_path: Path) -> None:
    world = recorded_world(
        simulated_table(tmp_path / "t.parquet", [date(2026, 3, 2)]), ZoneInfo("Europe/Rome")
    )
    write_truth(world, date(2026, 3, 2), date(2026, 3, 2), tmp_path / "truth")
    (day,) = pq.read_table(tmp_path / "truth" / "service_days.parquet").to_pylist()
    events = pq.read_table(tmp_path / "truth" / "events.parquet").to_pylist()

    assert (None, 0) == (day["weather"], day["n_added"])
    assert any(event["event"] == "DEV" for event in events)
    assert not any(event["skipped_stops"] for event in events)


def test_the_truth_of_a_simulated_day_is_the_same_when_it_is_replayed(tmp_path: Path) -> None:
    days = [date(2026, 3, 2), date(2026, 3, 3)]
    simulated = build_world()
    replayed = recorded_world(simulated_table(tmp_path / "t.parquet", days), ZoneInfo("Europe/Rome"))
    tables = []
    for number, world in enumerate((simulated, replayed)):
        write_truth(world, days[0], days[1], tmp_path / str(number))
        with duckdb.connect() as db:
            tables.append(
                db.execute(f"""
                    select service_date, trip_id, stop_sequence, scheduled_at, passed_at
                    from '{tmp_path}/{number}/scheduled_passages.parquet'
                    join '{tmp_path}/{number}/actual_passages.parquet'
                        using (service_date, trip_id, stop_sequence) order by all
                """).fetchall()
            )
    skipped = int(sum(simulated.motion(day).is_skipped.sum() for day in days))

    assert set(tables[0]) <= set(tables[1])
    assert len(tables[0]) <= len(tables[1]) <= len(tables[0]) + skipped
    assert days == list(service_dates(replayed))


def test_a_trip_belongs_to_the_service_day_that_lasts_until_four(tmp_path: Path) -> None:
    rows = ROWS + [text.replace("t1", "t9").replace("T08:", "T03:") for text in rows_of(*OUT[0])]
    world = recorded_world(written(tmp_path, rows), NEW_YORK)

    assert ["t9"] == list(outcomes(world, SATURDAY - timedelta(days=1)))
    assert "t9" not in outcomes(world)


def test_several_dates_are_several_service_days(tmp_path: Path) -> None:
    rows = ROWS + [text.replace("2022-01-08", "2022-01-15") for text in rows_of(*OUT[0])]
    world = recorded_world(written(tmp_path, rows), NEW_YORK)

    assert {"t1": TripOutcome.RUN} == outcomes(world, date(2022, 1, 15))
    assert ["08:01:00", "08:06:30", "08:12:00"] == clock(world, "t1", day=date(2022, 1, 15))
    assert (SATURDAY, date(2022, 1, 15)) == (
        world.network.calendar.first_date, world.network.calendar.last_date,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("passed", "recorded", "replayed"),
    [
        (("08:01:00", "08:30:00", "08:12:00"), [True, False, True], ["08:01:00", "08:06:30", "08:12:00"]),
        (("08:01:00", "08:06:30", "07:12:00"), [True, True, False], ["08:01:00", "08:06:30", "08:11:30"]),
    ],
)
def test_a_time_that_contradicts_the_others_of_its_trip_counts_as_not_recorded(
    tmp_path: Path, passed: tuple[str, ...], recorded: list[bool], replayed: list[str]
) -> None:
    world = recorded_world(written(tmp_path, rows_of("t1", "08:00", passed)), NEW_YORK)

    assert recorded == world.motion(SATURDAY).is_recorded[0].tolist()
    assert replayed == clock(world, "t1")


def test_a_time_that_the_table_calls_not_recorded_is_none(tmp_path: Path) -> None:
    rows = [f"{text},{place != 1}" for place, text in enumerate(rows_of(*OUT[0]))]
    world = recorded_world(written(tmp_path, rows, f"{COLUMNS},is_recorded"), NEW_YORK)

    assert ["08:01:00", "08:06:30", "08:12:00"] == clock(world, "t1")
    assert [True, False, True] == world.motion(SATURDAY).is_recorded[0].tolist()


def test_canceled_trips_skipped_stops_and_added_trips_are_known(tmp_path: Path) -> None:
    columns = f"{COLUMNS},is_canceled,is_skipped,vehicle_id"
    rows = [
        *(f"{text},,{place == 1},v7" for place, text in enumerate(rows_of(*OUT[0]))),
        *(f"{text},true,,v8" for text in rows_of(*OUT[2])),
        *(
            f"{text.replace(_due(text), '')},,,v9"
            for text in rows_of("t5", "08:20", ("08:22:00", "", "08:36:00"))
        ),
    ]
    world = recorded_world(written(tmp_path, rows, columns), NEW_YORK, id_mode=IdMode.VEHICLE)
    (added,) = truth(world, tmp_path, "trips", "t5")

    assert {"t1": TripOutcome.RUN, "t3": TripOutcome.NOT_RUN, "t5": TripOutcome.RUN} == outcomes(world)
    assert ["08:01:00", "08:12:00"] == clock(world, "t1")
    assert (True, None) == (added["is_added"], added["scheduled_departure_at"])
    assert ["08:22:00", "08:29:00", "08:36:00"] == clock(world, "t5")
    assert ["v7", "v8", "v9"] == world.live_ids(SATURDAY)


def _due(text: str) -> str:
    return text.split(",")[8]


def test_without_recorded_vehicles_one_takes_its_next_trip_after_it_has_arrived(tmp_path: Path) -> None:
    back = rows_of("t4", "08:15", ("08:30:00", "08:35:00", "08:40:00"), direction="Inbound")
    early = rows_of("t1", "08:00", ("08:01:00", "08:06:30", "08:12:00"))
    late = rows_of("t1", "08:00", ("08:20:00", "08:25:00", "08:31:00"))
    n_vehicles = [
        len(set(recorded_world(written(tmp_path, [*out, *back]), NEW_YORK).vehicles(SATURDAY)))
        for out in (early, late)
    ]

    assert [1, 2] == n_vehicles


def test_stops_whose_codes_no_interface_has_are_numbered_and_keep_their_names(tmp_path: Path) -> None:
    rows = [text.replace(",1,Alfa,", ",8220DB000002,,") for text in ROWS]
    world = recorded_world(written(tmp_path, rows), NEW_YORK)

    assert [("0001", "Beta"), ("0002", "Gamma"), ("0003", "8220DB000002")] == [
        (stop.code, stop.name) for stop in world.network.stops
    ]


def test_a_parquet_file_says_the_same_as_a_csv_file(world: World, tmp_path: Path) -> None:
    path = tmp_path / "typed.parquet"
    with duckdb.connect() as db:
        db.execute("set timezone = 'Asia/Tokyo'")
        db.execute(f"copy (from '{tmp_path}/day.csv') to '{path}'")
    typed = recorded_world(path, NEW_YORK)

    assert np.array_equal(world.motion(SATURDAY).passed_at, typed.motion(SATURDAY).passed_at)
    assert world.network.stops == typed.network.stops


TIDES_VISITS = "service_date,trip_id_performed,trip_stop_sequence,stop_id,schedule_arrival_time,schedule_departure_time,actual_arrival_time,actual_departure_time,schedule_relationship"  # noqa: E501 - a heading
TIDES_TRIPS = (
    "service_date,trip_id_performed,vehicle_id,route_id,direction_id,trip_type,schedule_relationship"
)


def tides(folder: Path) -> Path:
    """Write t1 and t3, a trip that is not in service and one of no route, as a package of TIDES."""
    visits = [
        *(_visit("t1", place, due, passed) for place, (due, passed) in enumerate(
            [("08:00", "08:01:00"), ("08:05", "08:06:30"), ("08:10", "08:12:00")])),
        *(_visit("t3", place, due, "") for place, due in enumerate(["08:40", "08:45", "08:50"])),
        *(_visit("garage", place, due, "") for place, due in enumerate(["07:40", "07:45"])),
        *(_visit("unknown", place, due, "") for place, due in enumerate(["07:40", "07:45"])),
    ]  # fmt: skip
    trips = [
        "2022-01-08,t1,v7,34E,0,In service,Scheduled",
        "2022-01-08,t3,v8,34E,0,In service,Canceled",
        "2022-01-08,garage,v8,,,Pullout,",
        "2022-01-08,unknown,v8,,,In service,",
    ]
    written(folder, trips, TIDES_TRIPS, "trips_performed_2022_01.csv")
    return written(folder, visits, TIDES_VISITS, "stop_visits_2022_01.csv")


def _visit(trip: str, place: int, due: str, passed: str) -> str:
    """Return a visit; a bus stands at a stop for half a minute, at the origin until it leaves."""
    times = ["", ""]
    if passed:
        arrived = datetime.fromisoformat(f"2022-01-08T{passed}-05:00")
        seconds = (-30, 0) if place == 0 else (0, 30)
        times = [(arrived + timedelta(seconds=step)).isoformat() for step in seconds]
    scheduled = f"2022-01-08T{due}:00-05:00"
    return f"2022-01-08,{trip},{place + 1},{STOPS[place][0]},{scheduled},{scheduled},{','.join(times)},"


@pytest.mark.parametrize("is_folder", [True, False], ids=["a folder", "a file"])
def test_stop_visits_and_trips_of_tides_are_read(tmp_path: Path, *, is_folder: bool) -> None:
    path = tides(tmp_path)
    world = recorded_world(tmp_path if is_folder else path, NEW_YORK)

    assert {"t1": TripOutcome.RUN, "t3": TripOutcome.NOT_RUN} == outcomes(world)
    assert ["08:01:00", "08:06:30", "08:12:00"] == clock(world, "t1")
    assert ["v7", "v8"] == world.vehicles(SATURDAY)


def test_stop_visits_without_trips_are_refused(tmp_path: Path) -> None:
    path = tides(tmp_path)
    (tmp_path / "trips_performed_2022_01.csv").unlink()

    with pytest.raises(BadActualsError, match=r"stop_visits_2022_01\.csv: .* looked for beside it.*"):
        recorded_world(path, NEW_YORK)


def changed(column: str, value: str, place: int = 1) -> list[str]:
    """Return ROWS with another value in one of them."""
    cells = ROWS[place].split(",")
    cells[COLUMNS.split(",").index(column)] = value
    return [*ROWS[:place], ",".join(cells), *ROWS[place + 1 :]]


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([], "the table has no rows"),
        (ROWS[:1], "no trip has 2 stops with a time"),
        ([*ROWS, ROWS[1]], "trip t1 of 2022-01-08 has two rows with stop_sequence 2"),
        (
            changed("scheduled_at", "2022-01-08T07:59:00-05:00"),
            "due at stop_sequence 2 before stop_sequence 1",
        ),
        (
            changed("scheduled_at", "2022-01-08T08:05:00"),
            "scheduled_at '2022-01-08T08:05:00' has no time zone",
        ),
        (changed("actual_at", "2022-01-08 08:05"), "actual_at '2022-01-08 08:05' has no time zone"),
        (changed("actual_at", "08:05:00Z"), "actual_at '08:05:00Z' is not an instant such as 2022-"),
        (changed("service_date", "8/1/22"), "service_date '8/1/22' is not a date such as 2022-01-08"),
        (changed("direction", "north"), "direction 'north' is not outbound or inbound (0 or 1)"),
        (changed("stop_sequence", "two"), "stop_sequence 'two' is not a whole number"),
        (changed("line", ""), "line is empty in a row of trip 't1'"),
        (changed("line", "35"), "trip t1 of 2022-01-08 has more than one line"),
        (changed("direction", "1"), "trip t1 of 2022-01-08 has more than one direction"),
        ([text.replace("-08T", "-10T") for text in ROWS], "is TRANSIT_TIMEZONE the zone of the table?"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_in_one_line(
    tmp_path: Path, rows: list[str], complaint: str
) -> None:
    with pytest.raises(BadActualsError) as refused:
        recorded_world(written(tmp_path, rows), NEW_YORK)

    assert str(refused.value).startswith("day.csv: ")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_table_without_its_columns_is_refused_with_their_names(tmp_path: Path) -> None:
    with pytest.raises(BadActualsError, match=r"day\.csv: no column direction, scheduled_at; needed are"):
        recorded_world(
            written(
                tmp_path,
                ["2022-01-08,t1,34,1,1,"],
                "service_date,trip_id,line,stop_code,stop_sequence,actual_at",
            ),
            NEW_YORK,
        )


def test_a_parquet_file_whose_times_have_no_zone_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "naive.parquet"
    written(tmp_path, ROWS)
    with duckdb.connect() as db:
        db.execute(f"copy (select * replace (scheduled_at::timestamp as scheduled_at) "
                   f"from '{tmp_path}/day.csv') to '{path}'")  # fmt: skip

    with pytest.raises(BadActualsError, match=r"naive\.parquet: scheduled_at .* has no time zone"):
        recorded_world(path, NEW_YORK)


@pytest.mark.parametrize("name", ["day.txt", "day.parquet"])
def test_a_file_that_is_no_table_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadActualsError, match=name):
        recorded_world(written(tmp_path, ["x"], name=name), NEW_YORK)


@pytest.mark.long
@pytest.mark.skipif(not BOSTON.exists(), reason=f"no recorded days of a real network at {BOSTON}")
def test_recorded_days_of_a_real_network_are_replayed() -> None:
    world = recorded_world(BOSTON / "more_days.parquet", NEW_YORK)
    disrupted = date(2022, 1, 29)
    motion, schedule = world.motion(disrupted), world.schedule(disrupted)
    late = (motion.passed_at - schedule.scheduled_at)[motion.is_recorded]
    counts = {kind: int((motion.outcome == kind).sum()) for kind in TripOutcome}

    assert 11 == len(list(service_dates(world)))
    assert 0.37 == pytest.approx(np.mean(late > 359), abs=0.01)
    assert 600 == pytest.approx(counts[TripOutcome.NOT_RECORDED], abs=15)
    assert (np.diff(motion.passed_at, axis=1)[schedule.is_call[:, 1:]] >= 0).all()
    now = datetime(2022, 1, 29, 20, tzinfo=UTC)
    listed = [row for stop in world.network.stops for row in world.passages(stop.code, now)]
    assert 0.1 < np.mean([not row.is_theoretical for row in listed]) < 0.6
