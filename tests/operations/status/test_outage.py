"""When the status says that the upstream is down."""

from datetime import timedelta

import pytest

from tests.collect.helpers import write_lake
from tests.operations.status.installations import NOW, Exchange, land, minutes, stop
from tests.operations.status.test_view import screen
from transit_etl.api import v1
from transit_etl.api.exchange import Outcome
from transit_etl.operations.status import read_status
from transit_etl.operations.status.outage import Outage
from transit_etl.settings import Settings


def failed(*ages: float, outcome: Outcome = Outcome.CONNECTION_ERROR) -> list[Exchange]:
    """Return requests of so many minutes ago that got no usable answer."""
    return [Exchange(stop(1), minutes(age), {}, outcome) for age in ages]


def good(age: float) -> Exchange:
    return Exchange(stop(1), minutes(age), {"passaggi": []})


def test_the_upstream_is_down_since_the_first_request_without_a_usable_answer(settings: Settings) -> None:
    refused = failed(2, 1, outcome=Outcome.CLIENT_ERROR)
    land(settings, good(9), *failed(5, 4, 3), *refused).close()
    status = read_status(settings)

    assert status.outage == Outage(
        since=NOW - minutes(5),
        last_asked_at=NOW - minutes(1),
        last_good_at=NOW - minutes(9),
        outcomes={"connection_error": 3, "client_error": 2},
    )


def test_the_screen_names_it_and_counts_no_refused_connection_as_an_answer(settings: Settings) -> None:
    land(settings, good(9), *failed(5, 4, 3, 0.1)).close()
    shown = " ".join(screen(settings, 300).split())

    assert f"UPSTREAM DOWN since {NOW - minutes(5):%Y-%m-%d %H:%M:%S} UTC (5 min ago)" in shown
    assert "no usable answer but 4 connection_error; last good answer 9 min ago" in shown
    assert NOW - minutes(9) == read_status(settings).usage[0].last_good_at


@pytest.mark.parametrize(
    "exchanges",
    [
        pytest.param([*failed(5, 4, 3), good(2)], id="it is over"),
        pytest.param(failed(5, 4), id="two requests may fail by chance"),
        pytest.param(failed(0.5, 0.4, 0.3), id="it has only begun"),
        pytest.param(failed(5, 4, 3, outcome=Outcome.INTERRUPTED), id="none was answered"),
        pytest.param([*failed(5, 4, 3), Exchange(v1.all_of("status"), minutes(1), {})], id="status answers"),
    ],
)
def test_otherwise_it_is_not_down(settings: Settings, exchanges: list[Exchange]) -> None:
    land(settings, *exchanges).close()

    assert read_status(settings).outage is None


def test_the_lake_knows_the_beginning_of_a_long_outage(settings: Settings) -> None:
    land(settings, *failed(50, 30, 10)).close()
    rows = [
        {
            "endpoint": "passages",
            "key": "0001",
            "outcome": outcome,
            "is_good": outcome == "ok",
            "sent_at": (NOW - timedelta(hours=hours)).replace(tzinfo=None),
            "received_at": (NOW - timedelta(hours=hours)).replace(tzinfo=None),
        }
        for hours, outcome in ((7, "timeout"), (6, "ok"), (5, "connection_error"), (4, "connection_error"))
    ]
    write_lake(settings.data_dir, "requests", rows, "passages", at=NOW)
    outage = read_status(settings).outage

    assert outage is not None
    assert (NOW - timedelta(hours=6), NOW - timedelta(hours=5)) == (outage.last_good_at, outage.since)
