from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise

from transit_emulator.days.blocks import blocks, relieved
from transit_emulator.days.trip_ids import IdMode
from transit_emulator.world import Passage, World, build_world

DAY = date(2026, 3, 4)
MOMENTS = [datetime(2026, 3, 4, 6, tzinfo=UTC) + timedelta(minutes=20 * step) for step in range(20)]


def listed(world: World) -> list[Passage]:
    """List the passages of many stops over a morning."""
    return [
        row for stop in world.network.stops[::3] for now in MOMENTS for row in world.passages(stop.code, now)
    ]


def test_stable_ids_are_the_ids_of_the_trips() -> None:
    rows = listed(build_world())

    assert rows
    assert all(row.shown_id == row.trip_id for row in rows)


def test_vehicle_ids_are_empty_while_theoretical_and_shared_by_several_trips_a_day() -> None:
    rows = listed(build_world(id_mode=IdMode.VEHICLE))
    trips_of: dict[str, set[str]] = {}
    for row in rows:
        if not row.is_theoretical:
            trips_of.setdefault(row.shown_id, set()).add(row.trip_id)

    assert {row.shown_id for row in rows if row.is_theoretical} == {""}
    assert all(len(name) == 5 and name.isdigit() for name in trips_of)
    assert max(map(len, trips_of.values())) > 3


def test_a_vehicle_runs_one_trip_at_a_time(world: World) -> None:
    schedule, names = world.schedule(DAY), world.vehicles(DAY)
    runs: dict[str, list[tuple[int, int]]] = {}
    for row, name in enumerate(names):
        last = int(schedule.is_call[row].sum()) - 1
        start, end = schedule.scheduled_at[row, [0, last]].tolist()
        runs.setdefault(name, []).append((start, end))

    assert len(runs) < schedule.n_trips / 4
    for found in runs.values():
        found.sort()
        assert all(end < start for (_, end), (start, _) in pairwise(found))


def test_another_vehicle_runs_what_follows_a_trip_that_has_not_arrived(world: World) -> None:
    schedule = world.schedule(DAY)
    vehicles = blocks(world.network, schedule)
    trips_of_first = [
        row for row in schedule.by_departure if vehicles[row] == vehicles[schedule.by_departure[0]]
    ]
    passed_at = schedule.scheduled_at.copy()
    passed_at[trips_of_first[0]] += 3 * 3600
    found = relieved(schedule, vehicles, passed_at, schedule.is_call)

    assert vehicles == relieved(schedule, vehicles, schedule.scheduled_at, schedule.is_call)
    assert [max(vehicles) + 1] * (len(trips_of_first) - 1) == [found[row] for row in trips_of_first[1:]]
    assert len(trips_of_first) - 1 == sum(old != new for old, new in zip(vehicles, found, strict=True))


def test_reused_ids_repeat_on_the_same_day() -> None:
    world = build_world(id_mode=IdMode.REUSED)
    uses = Counter(world.live_ids(DAY))

    assert max(uses.values()) > 20
    assert {row.shown_id for row in listed(world)} <= set(uses)


def test_the_kind_of_trip_ids_changes_nothing_else(world: World) -> None:
    other = build_world(seed=world.seed, id_mode=IdMode.VEHICLE)
    times = [[(row.trip_id, row.shown_at) for row in w.passages("0100", MOMENTS[3])] for w in (world, other)]

    assert times[0] == times[1]
