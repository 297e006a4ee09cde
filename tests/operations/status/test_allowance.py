"""How the status counts requests and reads the budget."""

import asyncio
from datetime import timedelta

import pytest

from tests.operations.status.installations import NOW, Exchange, land, minutes, put_requests, stop
from transit_etl.api import v1
from transit_etl.api.exchange import Outcome
from transit_etl.clock import SystemClock
from transit_etl.collect.allowance.budget import open_budget
from transit_etl.endpoints import Kind
from transit_etl.operations.status import read_status
from transit_etl.operations.status.allowance import KindRequests
from transit_etl.settings import Settings


def test_requests_of_the_last_minute_and_hour_are_counted_by_kind(settings: Settings) -> None:
    land(
        settings,
        Exchange(v1.all_of("lines"), minutes(5), []),
        Exchange(v1.of_line("stops", "015-00"), minutes(4), {}),
        Exchange(v1.of_line("stops", "015-00"), minutes(70), {}),
    ).close()
    land(
        settings,
        *[Exchange(stop(n), minutes(2), {"passaggi": []}) for n in range(36)],
        *[Exchange(stop(n), minutes(0.4), {}, Outcome.RATE_LIMITED) for n in range(4)],
        worker="w2",
    ).close()
    network, passages = read_status(settings).usage

    assert network == KindRequests(
        kind="network",
        n_last_minute=0,
        n_sent=2,
        n_good=2,
        n_rate_limited=0,
        n_not_sent=0,
        share=0.0006,
        endpoints={"lines": 1, "stops": 1},
        last_good_at=NOW - minutes(4),
    )
    assert passages == KindRequests(
        kind="passages",
        n_last_minute=4,
        n_sent=40,
        n_good=36,
        n_rate_limited=4,
        n_not_sent=0,
        share=0.0111,
        endpoints={"passages": 40},
        last_good_at=NOW - minutes(2),
    )


def test_a_window_counts_the_same_while_it_is_written_and_when_it_is_finished(settings: Settings) -> None:
    window = land(settings, *[Exchange(stop(n), minutes(2), {"passaggi": []}) for n in range(5)])
    while_open = read_status(settings).usage
    window.close()

    assert [5] == [each.n_sent for each in while_open]
    assert while_open == read_status(settings).usage


def test_a_kind_without_requests_in_the_last_hour_has_its_last_answer(settings: Settings) -> None:
    put_requests(settings, "news", [timedelta(hours=3)])
    (news,) = read_status(settings).usage

    assert "news" == news.kind
    assert 0 == news.n_sent
    assert NOW - timedelta(hours=3) == news.last_good_at


def test_there_is_no_pace_before_the_first_collection(settings: Settings) -> None:
    assert read_status(settings).pace is None


def test_a_429_halves_the_rate_and_blocks_for_as_long_as_it_says(settings: Settings) -> None:
    async def be_refused() -> None:
        async with open_budget(settings, SystemClock()) as budget:
            await budget.report_rate_limited(await budget.acquire(Kind.PASSAGES), 40)

    asyncio.run(be_refused())
    pace = read_status(settings).pace

    assert pace is not None
    assert 30 == pace.rate_per_minute
    assert pace.blocked_until is not None
    assert timedelta(seconds=20) < pace.blocked_until - settings.clock.now() <= timedelta(seconds=40)


@pytest.mark.parametrize(
    ("reason", "n_not_sent"),
    [("no permit before 08:00:00, when the caller has to be done", 1), ("given up: nothing answers", 0)],
)
def test_requests_count_as_not_sent_only_for_want_of_a_permit(
    settings: Settings, reason: str, n_not_sent: int
) -> None:
    landing = land(settings, Exchange(stop(1), minutes(2), {"passaggi": []}))
    landing.skip(landing.plan(stop(2), NOW - minutes(1)), reason)
    landing.close()
    (passages,) = read_status(settings).usage

    assert (1, n_not_sent) == (passages.n_sent, passages.n_not_sent)
