"""Clock changes, a midnight and a change of season pass without a lost or doubled row."""

from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow.parquet as pq
import pytest

from tests.accounting import (
    Rehearsed,
    Row,
    check_every_request_is_explained,
    check_lake_holds_the_good_answers,
    check_quarantine_holds_only_what_must_be_there,
    rehearse_world,
)
from transit_emulator.local_time import local
from transit_emulator.truth import write_truth
from transit_emulator.world import World, build_world
from transit_etl.service_day import service_date

pytestmark = pytest.mark.long

ROME = ZoneInfo("Europe/Rome")
CUTOFF = time(4)
ONE_DAY = timedelta(days=1)
NO_SCHEDULE = datetime.min.replace(tzinfo=UTC)
SUMMER = date(2026, 6, 8)  # the second Monday of June
NIGHTS = {
    "spring": datetime(2026, 3, 29, 0, 50, tzinfo=UTC),
    "autumn, the first time round": datetime(2026, 10, 24, 23, 50, tzinfo=UTC),
    "autumn, the second time round": datetime(2026, 10, 25, 0, 50, tzinfo=UTC),
    "midnight": datetime(2026, 11, 18, 22, 50, tzinfo=UTC),
    "the cutoff": datetime(2026, 11, 19, 2, 50, tzinfo=UTC),
}


def _rehearse(
    folder: Path, world: World, start: datetime, minutes: float = 20, days_ahead: int = 2
) -> Rehearsed:
    rehearsed = rehearse_world(folder, world, start, minutes, timetable_days_ahead=days_ahead)
    check_every_request_is_explained(rehearsed)
    check_lake_holds_the_good_answers(rehearsed)
    check_quarantine_holds_only_what_must_be_there(rehearsed)
    assert rehearsed.report.n_refused == 0
    return rehearsed


@pytest.mark.parametrize("start", NIGHTS.values(), ids=NIGHTS.keys())
def test_every_passage_gets_the_instant_and_the_date_it_really_has(tmp_path: Path, start: datetime) -> None:
    world = build_world(seed=3)
    rehearsed = _rehearse(tmp_path, world, start)
    passages = rehearsed.lake("passages")
    truth = _truth(tmp_path / "truth", world, start)

    assert len(passages) > 500
    for row in passages:
        instants = truth[row["trip_id"], row["stop_code"]]
        predicted_at = row["predicted_at"].replace(tzinfo=UTC)
        assert row["clock_text"] == f"{local(predicted_at.timestamp(), ROME):%H:%M:%S}"
        assert row["service_date"] == service_date(predicted_at, ROME, CUTOFF)
        if row["is_theoretical"]:
            assert predicted_at in {scheduled for scheduled, _ in instants}
        else:
            assert min(abs(predicted_at - passed) for _, passed in instants) < timedelta(minutes=12)


def test_the_first_day_of_a_season_loses_and_duplicates_nothing(tmp_path: Path) -> None:
    world = build_world(seed=3, has_revisions=True)
    start = datetime.combine(SUMMER, CUTOFF, ROME) - timedelta(minutes=10)
    rehearsed = _rehearse(tmp_path, world, start.astimezone(UTC))
    scheduled = {instant for told in _truth(tmp_path / "truth", world, start).values() for instant, _ in told}
    theoretical = [row for row in rehearsed.lake("passages") if row["is_theoretical"]]

    assert len(theoretical) > 100
    assert {row["predicted_at"].replace(tzinfo=UTC) for row in theoretical} <= scheduled


def test_timetables_around_an_announcement_are_kept_as_they_were_at_the_request(tmp_path: Path) -> None:
    world = build_world(seed=3, has_revisions=True)
    announced = datetime.fromtimestamp(world.announced_at(SUMMER) or 0, UTC)
    start = announced - timedelta(minutes=3)
    rehearsed = _rehearse(tmp_path, world, start, minutes=8, days_ahead=14)
    kept: dict[str, list[str]] = {}
    for row in rehearsed.lake("timetables"):
        kept.setdefault(row["request_id"], []).append(row["departure_text"])
    asked = [row for row in rehearsed.ledger if row["endpoint"] == "timetables" and row["outcome"] == "ok"]

    assert 20 < sum(row["sent_at"].replace(tzinfo=UTC) < announced for row in asked) < len(asked) - 20
    for row in asked:
        line, day = row["key"].split("/")
        services = world.timetable(
            world.line(line), date.fromisoformat(day), row["sent_at"].replace(tzinfo=UTC)
        )
        legs = [leg for service in services for leg in service.legs if leg.description]
        expected = sorted(departure.text for leg in legs for departure in leg.departures)
        assert expected == sorted(kept.get(row["request_id"], []))


def _truth(
    folder: Path, world: World, start: datetime
) -> dict[tuple[str, str], list[tuple[datetime, datetime]]]:
    """Return, by trip and stop, scheduled and actual instants on the service dates around an instant.

    Added trips are not scheduled at any time that is ever listed.
    """
    today = start.astimezone(ROME).date()
    write_truth(world, today - ONE_DAY, today + ONE_DAY, folder)
    actual, scheduled = _read(folder, "actual_passages"), _read(folder, "scheduled_passages")
    passed: dict[tuple[date, str, int], datetime] = {_call(row): row["passed_at"] for row in actual}
    known = {_call(row) for row in scheduled}
    added = [row | {"scheduled_at": NO_SCHEDULE} for row in actual if _call(row) not in known]
    found: dict[tuple[str, str], list[tuple[datetime, datetime]]] = {}
    for row in scheduled + added:
        scheduled_at = row["scheduled_at"]
        instants = (
            scheduled_at.replace(tzinfo=UTC),
            passed.get(_call(row), scheduled_at).replace(tzinfo=UTC),
        )
        found.setdefault((row["trip_id"], row["stop_code"]), []).append(instants)
    return found


def _call(row: Row) -> tuple[date, str, int]:
    return row["service_date"], row["trip_id"], row["stop_sequence"]


def _read(folder: Path, name: str) -> list[dict[str, Any]]:
    return list(pq.read_table(folder / f"{name}.parquet").to_pylist())
