"""Makes data folders as the pipeline leaves them: answers that landed, lake files, a network."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from transit_etl.api import v1
from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.clock import SystemClock
from transit_etl.collect.raw.landing import Landing
from transit_etl.paths import lake_file
from transit_etl.settings import Settings
from transit_etl.stage.schemas import DATASETS

NOW = datetime.now(UTC).replace(microsecond=0)  # the tests' settings keep the pipeline's clock at it


class Exchange(NamedTuple):
    """A request, how long ago it was answered, and the answer."""

    request: Request
    age: timedelta
    body: object
    outcome: Outcome = Outcome.OK


def minutes(count: float) -> timedelta:
    return timedelta(minutes=count)


def stop(number: int) -> Request:
    return v1.passages(f"{number:04}")


class Passage(NamedTuple):
    """A bus that is expected so many minutes after the answer that lists it."""

    wait: float
    is_live: bool = True
    trip: str = "t1"

    def listed_at(self, at: datetime) -> dict[str, object]:
        """Return it as the interface lists it in an answer of that instant."""
        shown = (at + minutes(self.wait)).astimezone(Settings().zone)
        return {
            "linea": "015",
            "destinazione": "P.ZA DE FERRARI",
            "orario": f"{shown:%H:%M:%S}",
            "attesa": f"{self.wait:.0f}'",
            "teorico": not self.is_live,
            "id_corsa": self.trip,
            "pieno": False,
        }


def poll(age: float, *passages: Passage, outcome: Outcome = Outcome.OK) -> Exchange:
    """Return a poll of stop 0001 so many minutes ago that lists some passages."""
    at = NOW - minutes(age)
    body = {
        "codice_fermata": "0001",
        "timestamp": f"{at:%Y-%m-%dT%H:%M:%S.000Z}",
        "passaggi": [passage.listed_at(at) for passage in passages],
    }
    return Exchange(stop(1), minutes(age), body, outcome)


def land(settings: Settings, *exchanges: Exchange, worker: str = "w1") -> Landing:
    """Land answers in a window that stays open."""
    landing = Landing(settings.data_dir, settings.operator, SystemClock(), worker)
    for each in exchanges:
        at = NOW - each.age
        answer = Answer(
            request=each.request,
            outcome=each.outcome,
            sent_at=at,
            received_at=at,
            elapsed_ms=1.0,
            http_status=200,
            body=json.dumps(each.body).encode(),
        )
        landing.land(landing.plan(each.request, at), answer)
    return landing


def put(settings: Settings, dataset: str, stem: str, /, **columns: Sequence[object]) -> None:
    """Write a lake file whose other columns are null."""
    schema = DATASETS[dataset]
    n_rows = len(next(iter(columns.values())))
    columns = {"operator": [settings.operator] * n_rows, **columns}
    filled = {name: columns.get(name, [None] * n_rows) for name in schema.names}
    path = lake_file(settings.data_dir, settings.operator, dataset, NOW.date(), stem)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(filled, schema=schema), path)


def put_requests(settings: Settings, endpoint: str, ages: list[timedelta]) -> None:
    """Write good answers of an endpoint, so long ago, for the keys 0000, 0001, …."""
    instants: list[object] = [(NOW - age).replace(tzinfo=None) for age in ages]
    put(
        settings,
        "requests",
        endpoint,
        endpoint=[endpoint] * len(ages),
        key=[f"{number:04}" for number in range(len(ages))],
        sent_at=instants,
        received_at=instants,
        is_good=[True] * len(ages),
        outcome=["ok"] * len(ages),
    )


def put_network(settings: Settings, stops_of_lines: dict[str, list[str]]) -> None:
    """Write lines with the stops of their outbound direction."""
    at = NOW.replace(tzinfo=None)
    codes = list(stops_of_lines)
    count = len(codes)
    put(settings, "lines", "l", line_code=codes, received_at=[at] * count, request_id=["l/1"] * count)
    stops = [
        (code, number, each) for code, own in stops_of_lines.items() for number, each in enumerate(own, 1)
    ]
    put(
        settings,
        "line_stops",
        "s",
        line_code=[code for code, _, _ in stops],
        direction=["outbound"] * len(stops),
        position=[number for _, number, _ in stops],
        stop_code=[each for _, _, each in stops],
        received_at=[at] * len(stops),
        request_id=[f"s/{code}" for code, _, _ in stops],
    )
