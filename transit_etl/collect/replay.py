"""Reads answers back from raw files, so that what they taught a policy outlives a window."""

import json
import logging
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from transit_base.errors import MISSHAPEN
from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.clock import in_utc
from transit_etl.collect.raw.rawfile import read_lines
from transit_etl.collect.raw.windows import HOUR, recent_windows
from transit_etl.paths import finished_raw_file

_log = logging.getLogger(__name__)
MAX_ANSWERS = 6_000  # about a second's work


def recent_answers(data_dir: Path, operator: str, now: datetime) -> Iterator[Answer]:
    """Yield the newest passage answers of the last hour, oldest first.

    They come from the finished raw windows, staged or not: an answer says the same in both.
    """
    answers: list[Answer] = []
    windows = recent_windows(data_dir, operator, now, "passages")
    for path in (path for path in reversed(windows) if finished_raw_file(path) == path):
        answers += [answer for answer in _until_damage(path) if now - HOUR <= answer.received_at <= now]
        if len(answers) >= MAX_ANSWERS:
            break
    answers.sort(key=lambda answer: answer.received_at)
    yield from answers[-MAX_ANSWERS:]


def _until_damage(path: Path) -> Iterator[Answer]:
    try:
        yield from answers_in(read_lines(path))
    except ValueError as error:
        _log.warning("stopped reading %s, which is damaged: %s", path.name, error)


def answers_in(lines: Iterable[bytes]) -> Iterator[Answer]:
    """Yield the answers that lines of a raw file hold; ValueError at a line that is not a row."""
    for line in lines:
        try:
            row = json.loads(line)
            answer = None if row["received_at"] is None else _answer_of(row)
        except MISSHAPEN as error:
            raise ValueError(f"a line is no row: {error!r}") from error
        if answer is not None:
            yield answer


def _answer_of(row: dict[str, Any]) -> Answer:
    """Return the answer that a landed row holds, as far as a policy learns from it."""
    body = row["body"]
    return Answer(
        request=Request(row["endpoint"], row["key"], ""),
        outcome=Outcome(row["outcome"]),
        sent_at=in_utc(datetime.fromisoformat(row["sent_at"])),
        received_at=in_utc(datetime.fromisoformat(row["received_at"])),
        elapsed_ms=row["elapsed_ms"],
        http_status=row["http_status"],
        body=None if body is None else body.encode(),
    )
