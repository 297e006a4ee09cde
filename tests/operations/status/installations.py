"""Makes data folders as the pipeline leaves them: answers that landed, lake files, a network."""

import json
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from tests.collect.helpers import write_lake
from transit_etl.api import v1
from transit_etl.api.exchange import Answer, Outcome, Request
from transit_etl.clock import SystemClock
from transit_etl.collect.raw.landing import Landing
from transit_etl.settings import Settings

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


def put_requests(settings: Settings, endpoint: str, ages: list[timedelta]) -> None:
    """Write good answers of an endpoint, so long ago, for the keys 0000, 0001, …."""
    instants = [(NOW - age).replace(tzinfo=None) for age in ages]
    good = {"endpoint": endpoint, "is_good": True, "outcome": "ok"}
    rows = [
        {**good, "key": f"{number:04}", "sent_at": at, "received_at": at}
        for number, at in enumerate(instants)
    ]
    write_lake(settings.data_dir, "requests", rows, endpoint, at=NOW)
