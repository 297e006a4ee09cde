"""What the status says of an installation, from folders as the pipeline leaves them."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from transit_etl.installation import Rejection, describe
from transit_etl.paths import lake_file, raw_file
from transit_etl.settings import Settings
from transit_etl.stage.schemas import DATASETS

NOW = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data")


def put(settings: Settings, dataset: str, stem: str, /, **columns: list[object]) -> None:
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


def test_the_usage_counts_the_last_hour_by_kind(settings: Settings) -> None:
    put_requests(settings, "lines", [timedelta(minutes=5)])
    put_requests(settings, "stops", [timedelta(minutes=4), timedelta(hours=2)])
    put_requests(settings, "passages", [timedelta(minutes=1)] * 36)
    put_requests(settings, "passages", [timedelta(minutes=1)] * 4, is_good=False)
    usage = {each.kind: each for each in describe(settings).usage}

    assert {"network", "passages"} == set(usage)
    assert (2, 2, NOW - timedelta(minutes=4)) == (
        usage["network"].n_sent,
        usage["network"].n_good,
        usage["network"].last_received_at,
    )
    assert (40, 36, 4) == (
        usage["passages"].n_sent,
        usage["passages"].n_good,
        usage["passages"].n_rate_limited,
    )
    assert usage["passages"].share == pytest.approx(40 / 3600, abs=1e-4)


def test_the_stop_never_answered_for_comes_before_the_one_longest_unseen(settings: Settings) -> None:
    put(
        settings,
        "lines",
        "l",
        line_code=["001-00"],
        received_at=[NOW.replace(tzinfo=None)],
        request_id=["l/1"],
    )
    put(
        settings,
        "line_stops",
        "s",
        line_code=["001-00"] * 3,
        direction=["outbound"] * 3,
        position=[1, 2, 3],
        stop_code=["0000", "0001", "0002"],
        received_at=[NOW.replace(tzinfo=None)] * 3,
        request_id=["s/1"] * 3,
    )
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
