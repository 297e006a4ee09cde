"""What the status says of an installation, from folders as the pipeline leaves them."""

import asyncio
import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from transit_etl.api import v1
from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.clock import SystemClock
from transit_etl.collect.allowance.budget import open_budget
from transit_etl.collect.raw.landing import Landing
from transit_etl.endpoints import Kind
from transit_etl.paths import lake_file, raw_file
from transit_etl.settings import Settings
from transit_etl.stage.schemas import DATASETS
from transit_etl.status.installation import Rejection, describe
from transit_etl.status.view import show

NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    behind = (NOW - datetime.now(UTC)).total_seconds()  # it is still now, however long other tests took
    return Settings(data_dir=tmp_path / "data", clock_shift_seconds=behind)


def put(settings: Settings, dataset: str, stem: str, /, **columns: Sequence[object]) -> None:
    """Write a lake file whose other columns are null."""
    schema = DATASETS[dataset]
    n_rows = len(next(iter(columns.values())))
    columns = {"operator": [settings.operator] * n_rows, **columns}
    filled = {name: columns.get(name, [None] * n_rows) for name in schema.names}
    path = lake_file(settings.data_dir, settings.operator, dataset, NOW.date(), stem)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(filled, schema=schema), path)


def put_requests(settings: Settings, endpoint: str, ages: list[timedelta], *, is_good: bool = True) -> None:
    """Write requests of an endpoint, sent and answered so long ago, for the keys 0000, 0001, …."""
    instants: list[object] = [(NOW - age).replace(tzinfo=None) for age in ages]
    put(
        settings,
        "requests",
        f"{endpoint}-{is_good}",
        endpoint=[endpoint] * len(ages),
        key=[f"{number:04}" for number in range(len(ages))],
        sent_at=instants,
        received_at=instants,
        is_good=[is_good] * len(ages),
        outcome=["ok" if is_good else "rate_limited"] * len(ages),
    )


def land(
    settings: Settings, *exchanges: tuple[Request, timedelta, Outcome, object], worker: str = "w1"
) -> Landing:
    """Land answers to requests, each received so long ago, in a window that stays open."""
    landing = Landing(settings.data_dir, settings.operator, SystemClock(), worker)
    for request, age, outcome, body in exchanges:
        at = NOW - age
        answer = Answer(
            request=request,
            outcome=outcome,
            sent_at=at,
            received_at=at,
            elapsed_ms=1.0,
            http_status=200,
            body=json.dumps(body).encode(),
        )
        landing.land(landing.plan(request, at), answer)
    return landing


def stop(number: int) -> Request:
    return v1.passages(f"{number:04}")


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def test_the_usage_counts_the_last_minute_and_hour_by_kind_as_they_are_written(settings: Settings) -> None:
    finished = land(
        settings,
        (v1.all_of("lines"), minutes(5), Outcome.OK, []),
        (v1.of_line("stops", "015-00"), minutes(4), Outcome.OK, {}),
        (v1.of_line("stops", "015-00"), minutes(70), Outcome.OK, {}),
    )
    finished.close()
    still_open = land(
        settings,
        *[(stop(n), minutes(2), Outcome.OK, {"passaggi": []}) for n in range(36)],
        *[(stop(n), minutes(0.4), Outcome.RATE_LIMITED, {}) for n in range(4)],
        worker="w2",
    )
    usage = {each.kind: each for each in describe(settings).usage}
    still_open.close()

    assert {"network", "passages"} == set(usage)
    network, passages = usage["network"], usage["passages"]
    assert (0, 2, 2, 0) == (network.n_last_minute, network.n_sent, network.n_good, network.n_rate_limited)
    assert {"lines": 1, "stops": 1} == network.endpoints
    assert NOW - minutes(4) == network.last_received_at
    assert (4, 40, 36, 4) == (
        passages.n_last_minute,
        passages.n_sent,
        passages.n_good,
        passages.n_rate_limited,
    )
    assert passages.share == pytest.approx(40 / 3600, abs=1e-4)
    assert usage == {each.kind: each for each in describe(settings).usage}  # finished, it is counted once


def test_a_kind_not_asked_for_lately_is_there_with_its_last_answer(settings: Settings) -> None:
    put_requests(settings, "news", [timedelta(hours=3)])
    (usage,) = describe(settings).usage

    assert ("news", 0, NOW - timedelta(hours=3)) == (usage.kind, usage.n_sent, usage.last_received_at)


def bus(wait: int, *, is_live: bool = True, trip: str = "t1") -> dict[str, object]:
    return {"linea": "15", "destinazione": "X", "id_corsa": trip, "attesa": wait, "teorico": not is_live}


def passages_at(
    *polls: tuple[float, list[dict[str, object]]],
) -> list[tuple[Request, timedelta, Outcome, object]]:
    return [(stop(1), minutes(age), Outcome.OK, {"passaggi": rows}) for age, rows in polls]


@pytest.mark.parametrize(
    ("polls", "expected"),
    [
        pytest.param([(10, [bus(1)]), (9.1, [])], (1, 1, 0), id="gone within a minute"),
        pytest.param([(10, [bus(1)]), (8.0, [])], (1, 0, 1), id="gone, but after two minutes"),
        pytest.param([(10, [bus(1)])], (1, 0, 0), id="never looked for again"),
        pytest.param([(10, [bus(2)]), (9.5, [bus(1)]), (8.6, [])], (1, 1, 0), id="counted once"),
        pytest.param([(10, [bus(9)]), (9.1, [])], (0, 0, 0), id="lost long before its time"),
        pytest.param([(10, [bus(30)])], (0, 0, 0), id="not due yet"),
        pytest.param([(10, [bus(1, is_live=False)]), (9.1, [])], (0, 0, 0), id="theoretical"),
        pytest.param([(1, [bus(1)]), (0.5, [])], (0, 0, 0), id="due this very moment"),
        pytest.param(
            [(10, [bus(1), bus(1, trip="t2")]), (9.1, [bus(0, trip="t2")])], (2, 1, 0), id="one of two"
        ),
    ],
)
def test_a_passage_is_evidenced_when_it_is_gone_within_a_minute(
    settings: Settings, polls: list[tuple[float, list[dict[str, object]]]], expected: tuple[int, int, int]
) -> None:
    land(settings, *passages_at(*polls)).close()
    found = describe(settings).evidence

    assert expected == (found.n_due, found.n_evidenced, found.n_bounded)
    assert (None if not expected[0] else expected[1] / expected[0]) == found.share


def test_a_failed_poll_is_no_evidence(settings: Settings) -> None:
    land(
        settings,
        *passages_at((10, [bus(1)])),
        (stop(1), minutes(9.5), Outcome.NOT_JSON, {"passaggi": []}),
    ).close()
    found = describe(settings).evidence

    assert (1, 0) == (found.n_due, found.n_evidenced)


def test_the_lines_least_covered_come_first(settings: Settings) -> None:
    put_network(settings, {"001-00": ["0000", "0001"], "002-00": ["0001", "0002", "0003"]})
    put_requests(settings, "passages", [timedelta(minutes=9), timedelta(minutes=3), timedelta(hours=5)])
    land(settings, (stop(0), minutes(2), Outcome.OK, {"passaggi": []})).close()
    lines = describe(settings).lines

    assert ["002-00", "001-00"] == [line.line_code for line in lines]
    assert (3, 1, 0.3333) == (lines[0].n_stops, lines[0].n_seen, lines[0].share)
    assert ("0003", None) == (lines[0].unseen, lines[0].unseen_since)
    assert (2, 2, 1.0) == (lines[1].n_stops, lines[1].n_seen, lines[1].share)
    assert ("0000", NOW - minutes(2)) == (lines[1].unseen, lines[1].unseen_since) or lines[1].unseen == "0001"


def test_the_pace_tells_of_a_429(settings: Settings) -> None:
    assert describe(settings).pace is None

    async def be_refused() -> None:
        async with open_budget(settings, SystemClock()) as budget:
            await budget.report_rate_limited(await budget.acquire(Kind.PASSAGES), 40)

    asyncio.run(be_refused())
    pace = describe(settings).pace

    assert pace is not None
    assert pace.rate_per_minute == 30
    assert pace.blocked_until is not None
    assert timedelta(seconds=20) < pace.blocked_until - settings.clock.now() <= timedelta(seconds=40)


def screen(settings: Settings) -> str:
    console = Console(file=StringIO(), width=110, force_terminal=True, color_system=None)
    show(describe(settings), console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


def test_the_screen_says_what_matters_in_a_few_lines(settings: Settings) -> None:
    put_network(settings, {"001-00": ["0001", "0002"]})
    land(settings, *passages_at((10, [bus(1)]), (9.1, []))).close()
    shown = screen(settings)

    assert "0 of 60 in the last minute, 0.1% of the last hour's" in shown
    assert "0 of 1 lines had every stop seen in the last hour; 1 of 2 stops were never seen" in shown
    assert "longest unseen: stop 0002, never" in shown
    assert "100.0%: of 1 passages that came due in the last hour 1 were seen gone within a minute" in shown
    assert "not staged yet: 1 passages" in shown
    assert max(len(line) for line in shown.splitlines()) <= 110


def test_the_screen_of_an_empty_installation_says_how_to_begin(settings: Settings) -> None:
    shown = screen(settings)

    assert "begin with `transit-etl collect lines`" in shown
    assert "nothing yet" in shown


def put_network(settings: Settings, stops_of_lines: dict[str, list[str]]) -> None:
    at = NOW.replace(tzinfo=None)
    codes = list(stops_of_lines)
    count = len(codes)
    put(settings, "lines", "l", line_code=codes, received_at=[at] * count, request_id=["l/1"] * count)
    pairs = [
        (code, number, each) for code, own in stops_of_lines.items() for number, each in enumerate(own, 1)
    ]
    put(
        settings,
        "line_stops",
        "s",
        line_code=[code for code, _, _ in pairs],
        direction=["outbound"] * len(pairs),
        position=[number for _, number, _ in pairs],
        stop_code=[each for _, _, each in pairs],
        received_at=[at] * len(pairs),
        request_id=[f"s/{code}" for code, _, _ in pairs],
    )


def test_the_stop_never_answered_for_comes_before_the_one_longest_unseen(settings: Settings) -> None:
    put_network(settings, {"001-00": ["0000", "0001", "0002"]})
    put_requests(settings, "passages", [timedelta(minutes=9), timedelta(minutes=3)])
    found = describe(settings)

    assert (3, 1) == (found.n_stops, found.n_stops_never_seen)
    assert ("0002", None) == (found.unseen, found.unseen_since)


def test_a_finished_window_waits_until_it_is_staged(settings: Settings) -> None:
    for window in ("staged", "waiting"):
        path = raw_file(settings.data_dir, settings.operator, "status", NOW.date(), window)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    raw_file(settings.data_dir, settings.operator, "status", NOW.date(), "open").with_suffix(
        ".zst.part"
    ).touch()
    put(settings, "requests", "staged", endpoint=["status"])
    found = describe(settings)

    assert {"status": 1} == found.waiting
    assert 1 == found.n_open


def test_a_rejected_batch_is_listed_with_its_rule(settings: Settings) -> None:
    at = NOW.replace(tzinfo=None)
    put(
        settings,
        "validation_results",
        "w",
        window=["w"] * 3,
        suite=["passages"] * 3,
        rule=["one", "two", "three"],
        reason=["because"] * 3,
        scope=["batch", "batch", "row"],
        is_success=[True, False, False],
        last_received_at=[at] * 3,
    )

    assert [Rejection("w", "passages", "two", "because", NOW)] == describe(settings).rejected
