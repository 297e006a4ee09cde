"""What the tests of collecting share: requests, answers, and how to read raw files back."""

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.clock import VirtualClock
from transit_etl.collect.landing import Landing
from transit_etl.collect.rawfile import read_lines

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
    files = sorted(folder.glob("raw/operator=*/endpoint=*/date=*/*.jsonl.zst"))
    return [json.loads(line) for file in files for line in read_lines(file)]


def abandon(landing: Landing) -> None:
    """Let go of the files as a killed process would: unlocked, unfinished."""
    landing._closed.set()
    for window in landing._open.values():
        os.close(window.writer._part_fd)
        os.close(window.writer._planned_fd)
