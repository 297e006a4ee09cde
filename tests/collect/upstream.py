"""A made-up upstream for the tests of collecting: answers by path, in virtual time."""

import math
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2

from transit_etl.clock import VirtualClock
from transit_etl.collect import CollectReport, collect
from transit_etl.collect.allowance.budget_store import MemoryStore
from transit_etl.settings import Settings

START = datetime(2026, 3, 4, 7, tzinfo=UTC)
Handler = Callable[[httpx2.Request], httpx2.Response]


class Upstream:
    """Answers like a small, healthy operator; `answers` overrides a path, and every request is counted."""

    def __init__(self, answers: dict[str, Handler] | None = None) -> None:
        self.asked: list[str] = []
        self._answers = answers or {}

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request."""
        path = request.url.path.removeprefix("/api/")
        self.asked.append(path)
        for prefix, answer in self._answers.items():
            if path.startswith(prefix):
                return answer(request)
        return httpx2.Response(200, json=healthy(path))

    @property
    def counts(self) -> Counter[str]:
        """How often each path was asked for."""
        return Counter(self.asked)


def healthy(path: str) -> Any:  # noqa: ANN401 - JSON
    """Return the body a healthy upstream gives for a path."""
    group, _, key = path.removeprefix("v1/").partition("/")
    return {
        "linee": [{"codice": "015-00", "numero": "15", "attiva": True}],
        "fermate": {"codice_linea": key, "andata": [{"codice_fermata": "0001", "ordine": 1}]},
        "orari": {"linea": key[:6], "data": key[7:], "servizi": []},
        "passaggi": {"codice_fermata": key, "timestamp": "2026-03-04T07:00:00.000Z", "passaggi": []},
        "stato_servizio": {"stato": []},
        "news": {"titolo": "T", "contenuto": "C"} if key else [{"id": "n1", "titolo": "A", "data": "d"}],
    }.get(group, {})


def settings_at(folder: Path, **more: Any) -> Settings:  # noqa: ANN401 - any setting
    """Return settings that keep everything below a folder."""
    return Settings(data_dir=folder, **more)


def collect_from(
    upstream: Handler,
    settings: Settings,
    dataset: str,
    seconds: float | None = None,
    start: datetime = START,
    *,
    patience_seconds: float = math.inf,
) -> CollectReport:
    """Collect in virtual time from a made-up upstream."""
    transport = httpx2.MockTransport(upstream)
    return collect(
        settings,
        dataset,
        seconds=seconds,
        patience_seconds=patience_seconds,
        clock=VirtualClock(start),
        store=MemoryStore(),
        transport=transport,
    )
