"""Which stops and lines the status says had a good answer."""

from datetime import timedelta

from tests.collect.helpers import write_lake, write_network
from tests.operations.status.installations import NOW, Exchange, land, minutes, put_requests, stop
from transit_etl.operations.status import read_status
from transit_etl.operations.status.coverage import LineCoverage
from transit_etl.operations.status.lake import LEDGER_DAYS
from transit_etl.settings import Settings


def test_the_lines_least_covered_come_first(settings: Settings) -> None:
    write_network(settings.data_dir, {"001-00": ["0000", "0001"], "002-00": ["0001", "0002", "0003"]}, at=NOW)
    put_requests(settings, "passages", [minutes(9), minutes(3), timedelta(hours=5)])
    land(settings, Exchange(stop(0), minutes(2), {"passaggi": []})).close()

    assert read_status(settings).lines == [
        LineCoverage(
            line_code="002-00",
            line_number="2",
            n_stops=3,
            n_seen=1,
            share=0.3333,
            unseen="0003",
            unseen_since=None,
        ),
        LineCoverage(
            line_code="001-00",
            line_number="1",
            n_stops=2,
            n_seen=2,
            share=1.0,
            unseen="0001",  # stop 0000 has a newer answer, in raw alone
            unseen_since=NOW - minutes(3),
        ),
    ]


def test_a_stop_that_never_answered_comes_before_the_one_longest_unseen(settings: Settings) -> None:
    write_network(settings.data_dir, {"001-00": ["0000", "0001", "0002"]}, at=NOW)
    put_requests(settings, "passages", [minutes(9), minutes(3)])
    status = read_status(settings)

    assert 3 == status.n_stops
    assert 1 == status.n_stops_never_seen
    assert "0002" == status.unseen
    assert status.unseen_since is None


def test_answers_older_than_the_ledger_that_is_read_count_as_none(settings: Settings) -> None:
    write_network(settings.data_dir, {"001-00": ["0000", "0001"]}, at=NOW)
    old, recent = LEDGER_DAYS + 1.5, LEDGER_DAYS - 0.5
    for window, stop_code, age in (("w1", "0000", old), ("w2", "0001", recent)):
        at = NOW - timedelta(days=age)
        row = {"endpoint": "passages", "key": stop_code, "is_good": True, "outcome": "ok"}
        write_lake(settings.data_dir, "requests", [row], window, at)
    status = read_status(settings)

    assert ("0000", None, 1) == (status.unseen, status.unseen_since, status.n_stops_never_seen)
    assert NOW - timedelta(days=recent) == status.last_good_at["passages"]


def test_without_a_network_nothing_is_covered(settings: Settings) -> None:
    status = read_status(settings)

    assert [] == status.lines
    assert 0 == status.n_stops
    assert status.unseen is None
