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
    check_what_left_is_what_came_twice,
    rehearse_world,
)
from transit_etl.emulator.local_time import local
from transit_etl.emulator.truth import write_truth
from transit_etl.emulator.world import World, build_world
from transit_etl.service_day import service_date

ROME = ZoneInfo("Europe/Rome")
CUTOFF = time(4)
ONE_DAY = timedelta(days=1)
NIGHTS = {
    "spring": datetime(2026, 3, 29, 0, 50, tzinfo=UTC),
    "autumn, the first time round": datetime(2026, 10, 24, 23, 50, tzinfo=UTC),
    "autumn, the second time round": datetime(2026, 10, 25, 0, 50, tzinfo=UTC),
    "midnight": datetime(2026, 11, 18, 22, 50, tzinfo=UTC),
    "the cutoff": datetime(2026, 11, 19, 2, 50, tzinfo=UTC),
}


def _rehearse(folder: Path, world: World, start: datetime) -> Rehearsed:
    rehearsed = rehearse_world(folder, world, start, 20)
    check_every_request_is_explained(rehearsed)
    check_lake_holds_the_good_answers(rehearsed)
    check_what_left_is_what_came_twice(rehearsed)
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


def _truth(
    folder: Path, world: World, start: datetime
) -> dict[tuple[str, str], list[tuple[datetime, datetime]]]:
    """Return, by trip and stop, scheduled and actual instants on the service dates around an instant."""
    today = start.astimezone(ROME).date()
    write_truth(world, today - ONE_DAY, today + ONE_DAY, folder)
    passed: dict[tuple[date, str, int], datetime] = {
        _call(row): row["passed_at"] for row in _read(folder, "actual_passages")
    }
    found: dict[tuple[str, str], list[tuple[datetime, datetime]]] = {}
    for row in _read(folder, "scheduled_passages"):
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
