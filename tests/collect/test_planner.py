import itertools
from collections.abc import Iterable

import pytest

from transit_etl.collect.planning import adaptive
from transit_etl.collect.planning.adaptive import LONGEST_ROUTE_UNSEEN_SECONDS, Adaptive
from transit_etl.collect.planning.cover import Cover, covering
from transit_etl.collect.planning.planner import Listing, Observation, Policy, Rotation
from transit_etl.collect.planning.stop_patterns import LineStops, StopPattern, StopPatterns

STOPS = [f"{number:04}" for number in range(8)]
COURSE = LineStops("15", tuple(STOPS))
HOP = 90.0
FLOOR_SECONDS = 6 * 3_600.0


def listing(predicted_at: float, trip: str = "T1", *, is_live: bool = True) -> Listing:
    return Listing("15", "CENTRO", trip, predicted_at, is_live)


def good(stop: str, at: float, listings: Iterable[Listing] = ()) -> Observation:
    return Observation(stop, at, is_good=True, listings=tuple(listings))


class Street:
    """Buses that leave the first stop at given instants and take ninety seconds from stop to stop."""

    def __init__(self, departures: list[float]) -> None:
        self._departures = departures
        self.polls: list[tuple[float, str]] = []

    def ask(self, policy: Policy, now: float) -> None:
        """Let a policy choose a stop and see what it lists."""
        stop = policy.choose(now)
        self.polls.append((now, stop))
        policy.observe(good(stop, now + 0.1, self.listed(stop, now)))

    def listed(self, stop: str, now: float) -> list[Listing]:
        """Return what a stop lists: the next two buses, exactly predicted."""
        passages = [(left + HOP * STOPS.index(stop), n) for n, left in enumerate(self._departures)]
        return [listing(at, f"T{n}") for at, n in sorted(passages) if now < at < now + 3600][:2]

    def evidenced(self) -> set[tuple[int, str]]:
        """Return which bus was enclosed at which stop by two polls at most a minute apart."""
        found = set()
        for stop in STOPS:
            times = [at for at, polled in self.polls if polled == stop]
            for before, after in itertools.pairwise(times):
                for number, left in enumerate(self._departures):
                    if after - before <= 60 and before < left + HOP * STOPS.index(stop) <= after:
                        found.add((number, stop))
        return found


def test_rotation_asks_every_stop_in_turn() -> None:
    policy = Rotation(STOPS)

    assert [*STOPS, STOPS[0]] == [policy.choose(float(now)) for now in range(9)]


def test_cover_asks_few_stops_that_every_course_passes() -> None:
    courses = [LineStops("1", ("A", "B", "C")), LineStops("2", ("D", "B", "E")), LineStops("3", ("F", "G"))]
    policy = Cover("ABCDEFG", courses)

    assert ["B", "F"] == covering("ABCDEFG", courses)
    assert ["B", "F", "B"] == [policy.choose(float(now)) for now in range(3)]


def test_cover_asks_every_stop_where_no_course_is_known() -> None:
    policy = Cover(STOPS, [])

    assert STOPS == [policy.choose(float(now)) for now in range(len(STOPS))]


def test_every_stop_is_asked_when_nothing_is_known() -> None:
    policy = Adaptive(STOPS)

    assert set(STOPS) == {policy.choose(float(now)) for now in range(len(STOPS))}


def test_buses_are_seen_just_before_and_just_after_they_pass() -> None:
    departures = [600.0 + 300 * number for number in range(10)]
    spent = {}
    for name, policy in (("adaptive", Adaptive(STOPS, [COURSE])), ("rotation", Rotation(STOPS))):
        street = Street(departures)
        for now in range(0, 3600, 12):  # a permit every twelve seconds for eight stops
            street.ask(policy, float(now))
        spent[name] = len(street.evidenced())

    assert 0 == spent["rotation"]
    assert spent["adaptive"] > 40, spent


def test_a_bus_seen_once_is_expected_at_the_stops_after() -> None:
    policy = Adaptive(STOPS, [COURSE])
    for stop in STOPS:
        policy.observe(good(stop, 0.0))
    policy.observe(good(STOPS[0], 300.0, [listing(310.0)]))
    policy.observe(good(STOPS[0], 330.0))

    chosen = [policy.choose(now) for now in (370.0, 372.0)]

    assert STOPS[1] in chosen


def test_after_a_bus_was_listed_its_stop_is_asked_again_before_the_minute_is_over() -> None:
    policy = Adaptive([*STOPS, *(f"9{number:03}" for number in range(400))])
    policy.observe(good(STOPS[3], 100.0, [listing(125.0)]))

    asked_at = next(now for now in range(101, 300) if policy.choose(float(now)) == STOPS[3])

    assert 125 < asked_at <= 160


@pytest.mark.parametrize("is_refused", [False, True])
def test_a_bad_answer_is_not_read_as_a_bus_that_has_passed(*, is_refused: bool) -> None:
    policy = Adaptive(STOPS, [COURSE])
    policy.observe(good(STOPS[3], 100.0, [listing(125.0)]))
    policy.observe(Observation(STOPS[3], 120.0, is_good=False, is_refused=is_refused))
    stop = policy._tracker.stops[STOPS[3]]

    assert 100.0 == stop.seen_at
    assert [0] == [run.n_evidenced for run in stop.visits]


def test_a_bus_listed_and_then_not_within_a_minute_is_evidenced() -> None:
    policy = Adaptive(STOPS, [COURSE])
    policy.observe(good(STOPS[3], 100.0, [listing(125.0)]))
    (run,) = policy._tracker.stops[STOPS[3]].visits
    policy.observe(good(STOPS[3], 150.0))

    assert 1 == run.n_evidenced


def test_a_bus_that_vanishes_long_before_it_is_due_has_not_passed() -> None:
    policy = Adaptive(STOPS, [COURSE])
    policy.observe(good(STOPS[3], 100.0, [listing(1_000.0)]))
    (run,) = policy._tracker.stops[STOPS[3]].visits
    policy.observe(good(STOPS[3], 150.0))

    assert 0 == run.n_evidenced


def test_the_third_bus_of_a_line_is_not_missed_because_only_two_are_listed() -> None:
    policy = Adaptive(STOPS, [COURSE])
    policy.observe(good(STOPS[3], 100.0, [listing(130.0, "T1"), listing(300.0, "T2")]))
    policy.observe(good(STOPS[3], 150.0, [listing(200.0, "T3"), listing(250.0, "T4")]))

    assert {"T2", "T3", "T4"} == {run.trip_id for run in policy._tracker.stops[STOPS[3]].visits}


def test_an_answer_that_comes_late_changes_nothing() -> None:
    policy = Adaptive(STOPS)
    policy.observe(good(STOPS[3], 200.0, [listing(400.0)]))
    policy.observe(good(STOPS[3], 100.0))

    assert 1 == len(policy._tracker.stops[STOPS[3]].visits)


def test_a_stop_that_names_no_bus_again_and_again_is_let_be_until_one_comes() -> None:
    policy = Adaptive(STOPS)
    for now in range(4):
        policy.observe(good(STOPS[0], float(now)))
    asked = [policy.choose(float(now)) for now in range(10, 250)]
    policy.observe(good(STOPS[0], 260.0, [listing(2_000.0)]))

    assert STOPS[0] not in asked
    assert policy._tracker.stops[STOPS[0]].rests_until <= 260.0


def test_a_stop_let_be_is_asked_again_within_the_hour() -> None:
    policy = Adaptive(STOPS[:2])
    for now in range(60):
        policy.observe(Observation(STOPS[0], float(now), is_good=False, is_refused=True))

    assert STOPS[0] in {policy.choose(float(now)) for now in range(60, 3_700, 10)}


def test_the_same_observations_give_the_same_choices() -> None:
    def chosen() -> list[tuple[float, str]]:
        street, policy = Street([100.0, 400.0, 700.0]), Adaptive(STOPS, [COURSE])
        for now in range(0, 1_200, 5):
            street.ask(policy, float(now))
        return street.polls

    assert chosen() == chosen()


def test_a_pending_stop_is_not_asked_twice() -> None:
    policy = Adaptive(STOPS)
    policy.observe(good(STOPS[3], 100.0, [listing(125.0)]))

    assert 1 == [policy.choose(150.0 + n) for n in range(5)].count(STOPS[3])


def test_running_times_are_learned_between_any_two_stops() -> None:
    route = StopPattern("15", tuple(STOPS))
    for _ in range(60):
        route.learn(0, 2, 200.0, spread=10.0)
        route.learn(2, 7, 250.0, spread=10.0)

    assert 200.0 == pytest.approx(route.offsets[2])
    assert 450.0 == pytest.approx(route.offsets[7])
    assert sorted(route.offsets) == route.offsets


def test_a_service_runs_on_the_route_that_has_its_stops() -> None:
    out, back = LineStops("15", ("A", "B", "C")), LineStops("15", ("C", "D", "A"))
    routes = StopPatterns([out, back])
    routes.route_of(("15", "CENTRO"), "D")
    found = routes.route_of(("15", "CENTRO"), "C")

    assert found is not None
    assert back.stop_codes == found.stop_codes
    assert routes.route_of(("16", "CENTRO"), "C") is None


def test_a_short_run_is_looked_up_without_its_slash() -> None:
    assert StopPatterns([COURSE]).route_of(("15/", "CENTRO"), STOPS[0]) is not None


def test_no_stop_goes_unseen_for_longer_than_the_floor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few of the stops have buses, which would take every permit."""
    monkeypatch.setattr(adaptive, "LONGEST_STOP_UNSEEN_SECONDS", FLOOR_SECONDS)
    street = Street([600.0 + 120 * number for number in range(400)])
    codes = [*STOPS, *(f"9{number:03}" for number in range(60))]
    policy, last_asked, longest = Adaptive(codes, [COURSE]), dict.fromkeys(codes, 0.0), 0.0
    for now in range(0, 45_000, 15):
        stop = policy.choose(float(now))
        longest, last_asked[stop] = max(longest, now - last_asked[stop]), float(now)
        policy.observe(good(stop, now + 0.1, street.listed(stop, now) if stop in STOPS else ()))

    assert max(longest, 45_000 - min(last_asked.values())) <= FLOOR_SECONDS + 60


def test_no_line_direction_goes_unseen_for_longer_than_the_floor() -> None:
    street = Street([600.0 + 120 * number for number in range(400)])
    quiet = [f"8{number:03}" for number in range(12)]
    policy = Adaptive([*STOPS, *quiet], [COURSE, *(LineStops(stop, (stop,)) for stop in quiet)])
    asked: dict[str, list[float]] = {stop: [0.0] for stop in quiet}
    for now in range(0, 20_000, 5):
        stop = policy.choose(float(now))
        asked.get(stop, []).append(float(now))
        later = [listing(now + 3_000.0, stop)]
        policy.observe(good(stop, now + 0.1, street.listed(stop, now) if stop in STOPS else later))
    gaps = [after - before for times in asked.values() for before, after in itertools.pairwise(times)]

    assert max(gaps) <= LONGEST_ROUTE_UNSEEN_SECONDS + 60


def test_an_answer_lost_now_and_then_costs_little() -> None:
    departures = [600.0 + 300 * number for number in range(10)]
    evidenced = []
    for every in (1_000_000, 20):
        street, policy = Street(departures), Adaptive(STOPS, [COURSE])
        for n, now in enumerate(range(0, 3600, 12)):
            stop = policy.choose(float(now))
            is_good = n % every != every - 1
            if is_good:
                street.polls.append((now, stop))
            listings = tuple(street.listed(stop, now)) if is_good else ()
            policy.observe(Observation(stop, now + 0.1, is_good, listings=listings))
        evidenced.append(len(street.evidenced()))

    assert evidenced[1] >= 0.8 * evidenced[0], evidenced


def test_a_position_where_two_thirds_meet_is_in_none_for_sure() -> None:
    route = StopPattern("15", tuple(STOPS[:5]))

    assert [0, None, 1, None, 2] == [route.third(position) for position in range(5)]
