"""What a poll is worth: first polls wait for their trip, and open pairs are closed before others begin."""

import pytest

from transit_etl.collect.planning.estimates import Estimate
from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.poll_value import PollValuer
from transit_etl.collect.planning.state import ExpectedVisit, StopState, TrackedTrip
from transit_etl.collect.planning.stop_patterns import LineStops, StopPattern

DUE = 1_000.0
P = DEFAULTS.poll_value
PAIR_SECONDS = DEFAULTS.poll.pair_seconds
BEFORE = DUE - PAIR_SECONDS / 2  # the best moment for a first poll


def stop_expecting(*, spread: float, answered_at: float | None = None) -> StopState:
    """Return a stop that expects one trip, listed by its answer at `answered_at` if that is given."""
    stop = StopState("0001")
    visit = ExpectedVisit(TrackedTrip("15", "T1", None, 0.0, is_live=True), stop, 0)
    visit.expect(Estimate(DUE, spread), DEFAULTS)
    if answered_at is not None:
        stop.asked_at = stop.answered_at = visit.listed_at = answered_at
    stop.visits[visit.trip] = visit
    return stop


def visit_of(stop: StopState) -> ExpectedVisit:
    (visit,) = stop.visits.values()
    return visit


def value(stop: StopState, now: float) -> float:
    return PollValuer(60.0, DEFAULTS).value(stop, now)[0]


@pytest.mark.parametrize("spread", [5.0, 15.0, 30.0])
def test_a_first_poll_is_worth_most_when_the_trip_will_most_surely_pass_before_the_second(
    spread: float,
) -> None:
    values = {ahead: value(stop_expecting(spread=spread), DUE - ahead) for ahead in range(-30, 121)}
    best = max(values, key=values.__getitem__)
    middle = DEFAULTS.poll.pair_seconds / 2

    assert abs(best - middle) <= 15
    assert values[120] <= values[90] <= values[60] < values[best]


def test_a_first_poll_that_comes_much_too_early_has_no_value() -> None:
    assert value(stop_expecting(spread=10.0), DUE - DEFAULTS.poll.pair_seconds) < P.least_value
    assert value(stop_expecting(spread=10.0), DUE - DEFAULTS.poll.pair_seconds + 20.0) > P.least_value


def test_a_pair_is_closed_before_another_is_opened() -> None:
    now = DUE + 25.0
    second = value(stop_expecting(spread=10.0, answered_at=now - PAIR_SECONDS), now)
    first = max(value(stop_expecting(spread=10.0), DUE - ahead) for ahead in range(120))

    assert second > 3 * first


def test_the_second_poll_waits_while_its_trip_may_still_come() -> None:
    stop = stop_expecting(spread=10.0, answered_at=DUE - 30.0)

    assert 0.0 == value(stop, DUE + 5.0)
    assert value(stop, DUE - 30.0 + PAIR_SECONDS) > 0.0


def test_a_visit_counts_for_more_the_fewer_chances_its_trip_has_left() -> None:
    def value_at(n_stops: int, position: int) -> float:
        stop = stop_expecting(spread=15.0)
        stop_codes = tuple(f"{number:04}" for number in range(n_stops))
        visit_of(stop).trip.pattern = StopPattern(LineStops("15", stop_codes), DEFAULTS)
        visit_of(stop).position = position
        return value(stop, BEFORE)

    assert value_at(30, 0) < value_at(9, 0)
    assert value_at(30, 0) < value_at(30, 26)


def test_a_visit_counts_for_more_the_fewer_evidenced_visits_its_trip_has() -> None:
    visit, valuer = visit_of(stop_expecting(spread=15.0)), PollValuer(60.0, DEFAULTS)
    visit.trip.pattern = StopPattern(LineStops("15", tuple("ABCDEFGHI")), DEFAULTS)

    def weight_with(n_evidenced: int) -> float:
        visit.trip.n_evidenced = n_evidenced
        return valuer.weight(visit)

    weights = [weight_with(n_evidenced) for n_evidenced in range(P.visits_wanted + 1)]

    assert weights == sorted(set(weights), reverse=True)


def test_bonuses_end_when_the_trip_has_the_visits_and_thirds_that_are_wanted() -> None:
    stop = stop_expecting(spread=15.0, answered_at=DUE - 100.0)
    visit, valuer = visit_of(stop), PollValuer(60.0, DEFAULTS)
    visit.trip.pattern = StopPattern(LineStops("15", tuple("ABCDEFGHI")), DEFAULTS)
    with_both = valuer.weight(visit)
    visit.trip.evidenced_thirds.add(0)
    with_one = valuer.weight(visit)
    visit.trip.n_evidenced = P.visits_wanted

    assert with_both > with_one > valuer.weight(visit) == 1.0


def test_a_trip_that_may_be_anywhere_is_worth_locating_before_it_is_due() -> None:
    assert value(stop_expecting(spread=90.0), DUE - 100.0) > value(stop_expecting(spread=15.0), DUE - 100.0)


@pytest.mark.parametrize("listed_before_due", [50.0, 10.0])
def test_an_open_pair_is_valued_again_when_its_trip_has_surely_passed_or_the_minute_is_nearly_over(
    listed_before_due: float,
) -> None:
    spread, answered_at = 10.0, DUE - listed_before_due
    stop = stop_expecting(spread=spread, answered_at=answered_at)
    _, again_at = PollValuer(60.0, DEFAULTS).value(stop, answered_at + 1.0)

    assert min(
        answered_at + PAIR_SECONDS, DUE + DEFAULTS.estimate.unlikely_spreads * spread
    ) == pytest.approx(again_at)


def test_a_trip_that_was_missing_where_it_should_be_listed_counts_for_less_elsewhere() -> None:
    stop = stop_expecting(spread=15.0)
    before = value(stop, BEFORE)
    visit_of(stop).trip.n_missing = 1

    assert P.missing_factor * before == pytest.approx(value(stop, BEFORE))
