"""One round on a network larger than the allowance: passages are polled from its first minute on."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.collect.helpers import rows, write_lake, write_network
from tests.collect.upstream import Upstream, settings_at
from transit_emulator.app import create_app
from transit_emulator.world import build_world
from transit_etl.clock import VirtualClock
from transit_etl.collect import collect, collect_round
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.stage import stage

START = datetime(2026, 11, 18, 7, tzinfo=UTC)  # a Wednesday, eight o'clock local time
TODAY = "2026-11-18"
MINUTE = timedelta(minutes=1)


def sent(folder: Path, endpoint: str) -> list[dict[str, Any]]:
    """Return the rows of the requests of an endpoint, in the order in which they were sent."""
    found = [row for row in rows(folder) if row["endpoint"] == endpoint and row["sent_at"]]
    return sorted(found, key=lambda row: row["sent_at"])


@pytest.mark.long
def test_most_of_ten_minutes_in_a_city_go_to_passages_and_the_first_is_asked_within_one(
    tmp_path: Path,
) -> None:
    settings, clock, store = settings_at(tmp_path, rate_per_minute=60), VirtualClock(START), MemoryStore()
    transport = httpx2.ASGITransport(create_app(build_world("city", None, 1)))

    collect(settings, "lines", clock=clock, store=store, transport=transport)
    stage(settings)
    collect_round(settings, 600, lambda: stage(settings), clock=clock, store=store, transport=transport)
    by_kind = Counter(row["endpoint"] for row in rows(tmp_path) if row["sent_at"])
    passages, stops, timetables = (sent(tmp_path, name) for name in ("passages", "stops", "timetables"))
    n_lines = len({row["key"] for row in stops})

    assert passages[0]["sent_at"] < (START + MINUTE).isoformat()
    assert by_kind["passages"] > sum(by_kind.values()) / 2
    assert {"stops", "timetables", "status", "news", "lines"} < by_kind.keys()
    assert n_lines == len(stops) > 100
    # Today's timetables come beside the stops of the same lines.
    assert {TODAY} == {row["key"].partition("/")[2] for row in timetables}
    assert {row["key"].partition("/")[0] for row in timetables} <= {row["key"] for row in stops}
    assert len(timetables) > 80
    # Stops that became known while the round went on are polled, too.
    assert len({row["key"] for row in passages[-60:]} - {row["key"] for row in passages[:60]}) > 20
    unsent = {row["endpoint"] for row in rows(tmp_path) if row["outcome"] == "not_sent"}
    assert unsent <= {"passages"}  # visits that the audit drew; what is left of the lists is not due yet


def test_a_small_network_is_wholly_asked_for_in_one_round(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0001"]}, at=START)
    clock, transport = VirtualClock(START), httpx2.MockTransport(Upstream())

    reports = {
        report.dataset: report
        for report in collect_round(
            settings_at(tmp_path, rate_per_minute=60),
            300,
            list,
            clock=clock,
            store=MemoryStore(),
            transport=transport,
        )
    }

    assert {"ok": 1} == reports["stops"].outcomes
    assert {"ok": 15} == reports["timetables"].outcomes
    assert {"ok": 2} == reports["news"].outcomes
    assert 298 <= reports["passages"].seconds <= 303
    assert 0.95 <= sum(report.sent for report in reports.values()) / 300 <= 1


def test_an_interrupt_while_a_round_is_being_staged_stops_it_and_nothing_else(tmp_path: Path) -> None:
    write_network(tmp_path, {"015-00": ["0001"]}, at=START)
    clock, transport = VirtualClock(START), httpx2.MockTransport(Upstream())

    def interrupted() -> None:
        raise KeyboardInterrupt

    *_, passages = collect_round(
        settings_at(tmp_path), 300, interrupted, clock=clock, store=MemoryStore(), transport=transport
    )

    assert passages.is_stopped
    assert 58 <= passages.seconds <= 62


def test_a_round_that_learns_of_no_stop_ends_with_the_failure_of_stops(tmp_path: Path) -> None:
    write_lake(tmp_path, "lines", [{"line_code": "015-00", "is_active": True}], at=START)
    clock, transport = VirtualClock(START), httpx2.MockTransport(lambda _: httpx2.Response(500))

    [report] = collect_round(
        settings_at(tmp_path), 300, list, clock=clock, store=MemoryStore(), transport=transport
    )

    assert "stops" == report.dataset
    assert report.is_failure
