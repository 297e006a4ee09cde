"""What the tests of collecting share: requests, answers, and how to read raw files back."""

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.clock import VirtualClock
from transit_etl.collect.raw.landing import Landing
from transit_etl.collect.raw.rawfile import read_lines
from transit_etl.lake_schemas import DATASETS
from transit_etl.paths import lake_file, raw_files

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
STOP = Request("passages", "0416", "passaggi/0416")


def answer(
    received_at: datetime = NOON,
    body: bytes | None = b'{"passaggi": []}',
    request: Request = STOP,
    outcome: Outcome = Outcome.OK,
) -> Answer:
    return Answer(
        request=request,
        outcome=outcome,
        sent_at=received_at - timedelta(milliseconds=250),
        received_at=received_at,
        elapsed_ms=250.0,
        http_status=200,
        body=body,
    )


def landing_at(folder: Path, now: datetime = NOON) -> Landing:
    return Landing(folder, "emulated", VirtualClock(now), "w1")


def rows(folder: Path) -> list[dict[str, Any]]:
    """Return the rows of every finished raw file."""
    return [json.loads(line) for file in sorted(raw_files(folder)) for line in read_lines(file)]


@contextmanager
def killed_landing(folder: Path, now: datetime = NOON) -> Iterator[Landing]:
    """Land in a data folder whose process is killed at the end: its files stay unfinished and unlocked."""
    with TemporaryDirectory() as living, landing_at(Path(living), now) as landing:
        yield landing
        shutil.copytree(living, folder, dirs_exist_ok=True)


def write_lake(
    folder: Path, dataset: str, lake_rows: list[dict[str, Any]], window: str = "w", at: datetime = NOON
) -> None:
    """Put rows received at an instant into a lake file of `emulated`; columns left out are null."""
    path = lake_file(folder, "emulated", dataset, at.date(), window)
    path.parent.mkdir(parents=True, exist_ok=True)
    shared = {"operator": "emulated", "window": window, "received_at": at.replace(tzinfo=None)}
    full = [shared | row for row in lake_rows]
    pq.write_table(pa.Table.from_pylist(full, schema=DATASETS[dataset]), path)


def write_network(folder: Path, stops_of_lines: dict[str, list[str]], at: datetime = NOON) -> None:
    """Put lines, and the stops of each in one direction, into the lake."""
    lines = [
        {"line_code": code, "line_number": code.split("-")[0].lstrip("0"), "is_active": True, "row_number": n}
        for n, code in enumerate(stops_of_lines)
    ]
    stops = [
        {
            "line_code": code,
            "direction": "outbound",
            "position": n,
            "stop_code": stop,
            "request_id": f"r/{code}",
        }
        for code, stops in stops_of_lines.items()
        for n, stop in enumerate(stops, 1)
    ]
    write_lake(folder, "lines", lines, at=at)
    write_lake(folder, "line_stops", stops, at=at)


def body_of(row: dict[str, Any]) -> bytes:
    """Return the exact bytes of an answer from its raw row."""
    return base64.b64decode(row["body_base64"]) if row["body"] is None else row["body"].encode()
