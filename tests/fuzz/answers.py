"""Answers of every endpoint: received, landed, read back and learned from; collected and staged."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import httpx2

from tests.collect.helpers import NOON, body_of, landing_at, rows, write_network
from tests.collect.upstream import Upstream, collect_from, settings_at
from tests.fuzz.mutation import of_json, with_head
from tests.fuzz.staging import stage_quickly
from tests.fuzz.target import Target, head_and_rest, reported_in_one_line
from transit_etl.api import v1
from transit_etl.api.client import Client
from transit_etl.api.exchange import Answer, Request
from transit_etl.clock import SteadyInstant, VirtualClock
from transit_etl.collect import sources
from transit_etl.collect.datasets import source_of
from transit_etl.collect.passage_parser import PassageParser
from transit_etl.collect.planning.policies import policy_of
from transit_etl.collect.planning.stop_patterns import LineStops
from transit_etl.collect.raw.rawfile import read_lines
from transit_etl.collect.replay import answers_in
from transit_etl.collect.sources import RequestList, Source
from transit_etl.endpoints import COLLECTIONS, ENDPOINTS, Asked, Endpoint
from transit_etl.paths import raw_files
from transit_etl.settings import Settings

LINES = {"015-00": ("0001", "0002", "0003"), "016-00": ("0002", "0004")}
_OWN_FIELDS = {"endpoint", "status", "key"}
_FIRST_STATUS, _LAST_STATUS = 200, 599
_N_CHOSEN = 20


def _check_answer(data: bytes, folder: Path) -> None:
    """Receive an answer, land it, read it back, and let the source that asked for it learn from it."""
    endpoint, key, response = _parts(data)
    request = Request(endpoint.name, key, "x", endpoint.version)
    answer = _received(folder, request, response)
    with landing_at(folder) as landing:
        landing.land(landing.plan(request), answer)
    (row,) = rows(folder)
    assert body_of(row) == answer.body
    source = _SOURCES.get(endpoint.asked, _listed)(endpoint)
    for each in (answer, *(again for path in raw_files(folder) for again in answers_in(read_lines(path)))):
        source.observe(each)
    for second in range(_N_CHOSEN):
        at = NOON + timedelta(seconds=second)
        if source.due_at(at) is not None:
            source.choose(at)


def _check_collection(data: bytes, folder: Path) -> None:
    """Collect from an upstream with one bad answer, stage it, and make the sources of all collections."""
    endpoint, _, response = _parts(data)
    write_network(folder, {line: list(stops) for line, stops in LINES.items()})
    settings = _settings(folder)
    path = endpoint.path if endpoint.version else f"{settings.operator_segment}/{endpoint.path}"
    bad = {f"v{endpoint.version}/{path}" if endpoint.version else path: lambda _: response}
    report = collect_from(Upstream(bad), settings, endpoint.collection, seconds=3, start=NOON)
    assert [] == [warning for warning in report.warnings if "failed: " in warning]
    stage_quickly(settings)
    for collection in COLLECTIONS:
        with reported_in_one_line():
            source_of(collection, settings, SteadyInstant(VirtualClock(NOON), NOON))


def _parts(data: bytes) -> tuple[Endpoint, str, httpx2.Response]:
    """Read an input: the endpoint, the key asked for, and the response."""
    head, body = head_and_rest(data)
    status = head.get("status", "")
    code = int(status[:4]) if status[:4].isascii() and status[:4].isdecimal() else _FIRST_STATUS
    headers = [
        (name.encode(errors="replace"), value.encode(errors="replace"))
        for name, value in head.items()
        if name not in _OWN_FIELDS
    ]
    response = httpx2.Response(min(max(code, _FIRST_STATUS), _LAST_STATUS), headers=headers, content=body)
    return ENDPOINTS.get(head.get("endpoint", ""), ENDPOINTS["passages"]), head.get("key", "0001"), response


def _received(folder: Path, request: Request, response: httpx2.Response) -> Answer:
    clock = VirtualClock(NOON)

    async def exchange() -> Answer:
        async with Client(_settings(folder), clock, httpx2.MockTransport(lambda _: response)) as client:
            return await client.send(request)

    return clock.run(exchange())


def _settings(folder: Path) -> Settings:
    return settings_at(folder, token="t0k3n", rate_per_minute=600, status_interval_seconds=5)


def _listed(endpoint: Endpoint) -> Source:
    return sources.Listed(endpoint.kind, RequestList([v1.all_of("lines")]))


def _passages(_endpoint: Endpoint) -> Source:
    settings = Settings()
    stops = {stop for stops in LINES.values() for stop in stops}
    lines = [LineStops(line, stops) for line, stops in LINES.items()]
    policy = policy_of(settings.policy, stops, lines, settings.rate_per_minute)
    return sources.Passages(policy, PassageParser(settings.zone))


def _status(_endpoint: Endpoint) -> Source:
    return sources.Status(SteadyInstant(VirtualClock(NOON), NOON), timedelta(seconds=5), [])


_SOURCES: dict[Asked, Callable[[Endpoint], Source]] = {
    Asked.BY_POLICY: _passages,
    Asked.AT_INTERVALS: _status,
    Asked.WITH_ITEMS: lambda _: sources.News({}),
    Asked.VERSION_0: lambda _: sources.Legacy(LINES, LINES["015-00"]),
}


def _seeds(folder: Path) -> list[bytes]:
    """Return the shortest answer of each endpoint and outcome that was landed, and some failures."""
    landed = [
        json.loads(line) for path in raw_files(folder) for line in read_lines(path) if len(line) < 8_000
    ]
    landed.sort(key=lambda row: -len(row["body"] or ""))
    shortest = {(row["endpoint"], row["outcome"]): row for row in landed if row["body"]}
    found = [_input(row["endpoint"], row["key"], body_of(row)) for row in shortest.values()]
    legacy = [_input(name, "", b'[{"id": 1, "titolo": "T"}]') for name in ENDPOINTS if name.startswith("v0_")]
    limited = _input(
        "passages", "0001", b"", "status=429", "Retry-After=7", "Date=Wed, 04 Mar 2026 12:00:00 GMT"
    )
    return [*found, *legacy, limited]


def _input(endpoint: str, key: str, body: bytes, *fields: str) -> bytes:
    return "\n".join([f"endpoint={endpoint}", f"key={key}", *fields]).encode() + b"\n\n" + body


TARGETS = (
    Target("answers", _check_answer, _seeds, with_head(of_json), weight=4),
    Target("collections", _check_collection, _seeds, with_head(of_json), weight=4, n_quick=2),
)
