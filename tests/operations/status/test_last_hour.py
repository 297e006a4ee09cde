"""What the last hour's polls say about the passages that were expected in it."""

import pytest

from tests.operations.status.installations import NOW, Exchange, Passage, land, minutes, poll, stop
from transit_etl.api.exchange import Outcome
from transit_etl.operations.status import read_status
from transit_etl.operations.status.last_hour import Evidence
from transit_etl.settings import Settings


@pytest.mark.parametrize(
    ("polls", "n_due", "n_evidenced", "n_bounded"),
    [
        pytest.param([poll(10, Passage(1)), poll(9.1)], 1, 1, 0, id="gone within a minute"),
        pytest.param([poll(10, Passage(1)), poll(8.0)], 1, 0, 1, id="gone, but after two minutes"),
        pytest.param([poll(10, Passage(1))], 1, 0, 0, id="never polled again"),
        pytest.param(
            [poll(10, Passage(2)), poll(9.5, Passage(1)), poll(8.6)], 1, 1, 0, id="listed twice, counted once"
        ),
        pytest.param([poll(10, Passage(119)), poll(9.1)], 0, 0, 0, id="two hours ahead"),
        pytest.param([poll(10, Passage(1435)), poll(9.1)], 0, 0, 0, id="passed, its wait wrapped to a day"),
        pytest.param([poll(10, Passage(9)), poll(9.1)], 0, 0, 0, id="no longer listed long before its time"),
        pytest.param([poll(10, Passage(30))], 0, 0, 0, id="not expected yet"),
        pytest.param([poll(10, Passage(1, is_live=False)), poll(9.1)], 0, 0, 0, id="theoretical"),
        pytest.param([poll(1, Passage(1)), poll(0.5)], 0, 0, 0, id="expected at this very moment"),
        pytest.param(
            [poll(10, Passage(1), Passage(1, trip="t2")), poll(9.1, Passage(0, trip="t2"))],
            2,
            1,
            0,
            id="one of two",
        ),
    ],
)
def test_a_passage_is_evidenced_when_it_is_gone_within_a_minute(
    settings: Settings, polls: list[Exchange], n_due: int, n_evidenced: int, n_bounded: int
) -> None:
    land(settings, *polls).close()
    share = n_evidenced / n_due if n_due else None

    assert Evidence(n_due, n_evidenced, n_bounded, share) == read_status(settings).evidence


def test_a_failed_poll_is_no_evidence(settings: Settings) -> None:
    land(settings, poll(10, Passage(1)), poll(9.5, outcome=Outcome.NOT_JSON)).close()

    assert Evidence(n_due=1, n_evidenced=0, n_bounded=0, share=0.0) == read_status(settings).evidence


def test_a_listing_without_a_clock_time_is_left_out(settings: Settings) -> None:
    odd = Passage(1).listed_at(NOW) | {"orario": "1'"}
    rows = [odd, None, 7, Passage(1, trip="t2").listed_at(NOW - minutes(10))]
    land(settings, Exchange(stop(1), minutes(10), {"passaggi": rows}), poll(9.1)).close()

    assert Evidence(n_due=1, n_evidenced=1, n_bounded=0, share=1.0) == read_status(settings).evidence
