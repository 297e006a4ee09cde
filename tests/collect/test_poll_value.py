"""What a poll is worth: first ones wait for their bus, and open pairs are finished before others begin."""

import pytest

from transit_etl.collect.planning.poll_value import LEAST_VALUE, READY_SECONDS, PollValuer
from transit_etl.collect.planning.state import ExpectedVisit, StopState, TrackedTrip
from transit_etl.collect.planning.stop_patterns import StopPattern

DUE = 1_000.0


def expecting(*, spread: float, seen_at: float | None = None) -> StopState:
    """Return a stop that expects one bus, which the poll at `seen_at`, if any, listed."""
    stop = StopState("0001")
    visit = ExpectedVisit(TrackedTrip(("15", "CENTRO"), "T1", None, 0.0, is_live=True), stop, 0)
    visit.expect(DUE, spread)
    if seen_at is not None:
        stop.asked_at = stop.seen_at = visit.listed_at = seen_at
    stop.visits[visit.run] = visit
    return stop


def value(stop: StopState, now: float) -> float:
    return PollValuer(60.0).value(stop, now)[0]


@pytest.mark.parametrize("spread", [5.0, 15.0, 30.0])
def test_a_first_poll_is_worth_most_when_the_bus_will_most_surely_pass_before_the_second(
    spread: float,
) -> None:
    worth = {ahead: value(expecting(spread=spread), DUE - ahead) for ahead in range(-30, 121)}
    best = max(worth, key=worth.__getitem__)

    assert 15 <= best <= 40
    assert worth[120] <= worth[90] <= worth[60] < worth[best]


def test_a_first_poll_that_comes_much_too_early_is_worth_nothing() -> None:
    assert value(expecting(spread=10.0), DUE - 55.0) < LEAST_VALUE
    assert value(expecting(spread=10.0), DUE - 35.0) > LEAST_VALUE


def test_the_second_of_a_pair_comes_before_the_first_of_another() -> None:
    now = DUE + 25.0
    second = value(expecting(spread=10.0, seen_at=now - READY_SECONDS), now)
    first = max(value(expecting(spread=10.0), DUE - ahead) for ahead in range(120))

    assert second > 3 * first


def test_the_second_of_a_pair_waits_while_its_bus_may_still_come() -> None:
    stop = expecting(spread=10.0, seen_at=DUE - 30.0)

    assert 0.0 == value(stop, DUE + 5.0)
    assert value(stop, DUE - 30.0 + READY_SECONDS) > 0.0


def test_a_visit_counts_the_more_the_fewer_chances_its_trip_has_left() -> None:
    def worth(n_stops: int, position: int) -> float:
        stop = expecting(spread=15.0)
        (visit,) = stop.visits.values()
        visit.run.route = StopPattern("15", tuple(f"{number:04}" for number in range(n_stops)))
        visit.position = position
        return value(stop, DUE - 28.0)

    assert worth(30, 0) < worth(9, 0)
    assert worth(30, 0) < worth(30, 26)


def test_a_bus_that_may_be_anywhere_is_worth_a_look_before_it_is_due() -> None:
    assert value(expecting(spread=90.0), DUE - 100.0) > value(expecting(spread=15.0), DUE - 100.0)


@pytest.mark.parametrize(("due_after", "again_after"), [(50.0, READY_SECONDS), (10.0, 30.6)])
def test_an_open_pair_is_looked_at_again_when_its_bus_is_surely_over_or_the_minute_nearly_so(
    due_after: float, again_after: float
) -> None:
    seen_at = DUE - due_after
    _, again_at = PollValuer(60.0).value(expecting(spread=10.0, seen_at=seen_at), seen_at + 1.0)

    assert seen_at + again_after == pytest.approx(again_at)


def test_a_bus_that_was_missing_where_it_should_be_listed_counts_for_less_elsewhere() -> None:
    stop = expecting(spread=15.0)
    (visit,) = stop.visits.values()
    before = value(stop, DUE - 28.0)
    visit.run.n_missed = 1

    assert 0.0 < value(stop, DUE - 28.0) < before
