"""What the adaptive policy asks: trips as they pass, and everything else often enough."""

import itertools
from dataclasses import replace

from tests.collect.planning.observations import LINE, STOPS, failed, good, listing
from transit_etl.collect.planning.adaptive import Adaptive
from transit_etl.collect.planning.parameters import DEFAULTS
from transit_etl.collect.planning.policy import Listing, Policy, Rotation
from transit_etl.collect.planning.stop_patterns import LineStops

HOP_SECONDS = 90.0
OTHER_STOPS = [f"9{number:03}" for number in range(400)]
P = DEFAULTS.poll


class Street:
    """Buses that leave the first stop at given instants and take ninety seconds from stop to stop."""

    def __init__(self, departures: list[float]) -> None:
        self._departures = departures
        self.polls: list[tuple[float, str]] = []

    def ask(self, policy: Policy, now: float) -> None:
        """Let a policy choose a stop and observe what it lists."""
        stop = policy.choose(now)
        self.polls.append((now, stop))
        policy.observe(good(stop, now + 0.1, self.listed(stop, now)))

    def listed(self, stop: str, now: float) -> list[Listing]:
        """Return what a stop lists: the next two buses, exactly predicted."""
        if stop not in STOPS:
            return []
        passages = [(left + HOP_SECONDS * STOPS.index(stop), n) for n, left in enumerate(self._departures)]
        return [listing(at, f"T{n}") for at, n in sorted(passages) if now < at < now + 3600][:2]

    def evidenced(self) -> set[tuple[int, str]]:
        """Return which bus was enclosed at which stop by two polls near enough to each other."""
        found = set()
        for stop in STOPS:
            times = [at for at, polled in self.polls if polled == stop]
            for before, after in itertools.pairwise(times):
                for number, left in enumerate(self._departures):
                    passed_at = left + HOP_SECONDS * STOPS.index(stop)
                    if after - before <= P.evidence_seconds and before < passed_at <= after:
                        found.add((number, stop))
        return found


def test_every_stop_is_asked_when_nothing_is_known() -> None:
    policy = Adaptive(STOPS)

    assert set(STOPS) == {policy.choose(float(now)) for now in range(len(STOPS))}


def test_buses_are_seen_just_before_and_just_after_they_pass() -> None:
    departures = [600.0 + 300 * number for number in range(10)]
    n_evidenced = {}
    for name, policy in (("adaptive", Adaptive(STOPS, [LINE])), ("rotation", Rotation(STOPS))):
        street = Street(departures)
        for now in range(0, 3600, 12):  # a permit every twelve seconds for nine stops
            street.ask(policy, float(now))
        n_evidenced[name] = len(street.evidenced())

    assert 0 == n_evidenced["rotation"]
    assert n_evidenced["adaptive"] > 40, n_evidenced


def test_a_bus_seen_once_is_expected_at_the_stops_after() -> None:
    policy = Adaptive(STOPS, [LINE])
    for stop in STOPS:
        policy.observe(good(stop, 0.0))
    policy.observe(good(STOPS[0], 300.0, [listing(310.0)]))
    policy.observe(good(STOPS[0], 330.0))

    chosen = [policy.choose(now) for now in (370.0, 372.0)]

    assert STOPS[1] in chosen


def test_after_a_bus_was_listed_its_stop_is_asked_again_in_time_to_evidence_it() -> None:
    policy = Adaptive([*STOPS, *OTHER_STOPS])
    policy.observe(good(STOPS[3], 100.0, [listing(125.0)]))

    asked_at = next(now for now in range(101, 300) if policy.choose(float(now)) == STOPS[3])

    assert 125 < asked_at <= 100 + P.evidence_seconds


def test_a_stop_whose_answer_was_lost_is_asked_again_in_time_to_evidence_the_bus() -> None:
    policy = Adaptive([*STOPS, *OTHER_STOPS], [LINE])
    policy.observe(good(STOPS[3], 100.0, [listing(125.0)]))
    asked_at = next(now for now in range(101, 200) if policy.choose(float(now)) == STOPS[3])
    policy.observe(failed(STOPS[3], asked_at + 0.2))
    asked_again_at = next(now for now in range(asked_at + 1, 300) if policy.choose(float(now)) == STOPS[3])

    assert asked_again_at < 100 + P.evidence_seconds


def test_a_stop_whose_answers_are_lost_again_and_again_is_asked_less_and_less_often() -> None:
    policy = Adaptive([*STOPS, *OTHER_STOPS[:40]], [LINE])
    policy.observe(good(STOPS[3], 0.0, [listing(100.0)]))
    asked_at = []
    for now in range(1, 101):
        stop = policy.choose(float(now))
        if stop == STOPS[3]:
            asked_at.append(now)
        policy.observe(failed(stop, now + 0.2) if stop == STOPS[3] else good(stop, now + 0.2))
    gaps = [after - before for before, after in itertools.pairwise(asked_at)]
    waits = (min(P.first_retry_seconds * 2.0**n, P.pending_seconds) for n in itertools.count())
    most = sum(1 for _ in itertools.takewhile(lambda waited: waited < 100, itertools.accumulate(waits)))

    assert 2 <= len(asked_at) <= 1 + most
    assert sorted(gaps) == gaps


def test_an_answer_that_is_lost_now_and_then_costs_little() -> None:
    departures = [600.0 + 300 * number for number in range(10)]
    evidenced = []
    for every in (1_000_000, 20):
        street, policy = Street(departures), Adaptive(STOPS, [LINE])
        for n, now in enumerate(range(0, 3600, 12)):
            if n % every == every - 1:
                policy.observe(failed(policy.choose(float(now)), now + 0.1))
            else:
                street.ask(policy, float(now))
        evidenced.append(len(street.evidenced()))

    assert evidenced[1] >= 0.8 * evidenced[0], evidenced


def test_a_pending_stop_is_not_asked_twice() -> None:
    policy = Adaptive(STOPS)
    policy.observe(good(STOPS[3], 100.0, [listing(125.0)]))

    assert 1 == [policy.choose(150.0 + n) for n in range(5)].count(STOPS[3])


def test_a_stop_in_its_rest_period_is_not_asked() -> None:
    policy, n_empty = Adaptive(STOPS), DEFAULTS.listing.telling_answers
    for now in range(n_empty):
        policy.observe(good(STOPS[0], float(now)))
    rest_ends_at = n_empty + int(P.first_rest_seconds)
    asked = [policy.choose(float(now)) for now in range(10, rest_ends_at - 1)]

    assert STOPS[0] not in asked


def test_a_stop_is_asked_again_after_the_longest_rest_period_at_the_latest() -> None:
    policy, longest = Adaptive(STOPS[:2]), int(P.longest_rest_seconds)
    for now in range(60):
        policy.observe(failed(STOPS[0], float(now), is_refused=True))

    assert STOPS[0] in {policy.choose(float(now)) for now in range(60, longest + 100, 10)}


def test_a_listing_ends_the_rest_period_of_a_stop() -> None:
    policy = Adaptive(STOPS[:2])
    for now in range(DEFAULTS.listing.telling_answers):
        policy.observe(good(STOPS[0], float(now)))
    policy.observe(good(STOPS[0], 10.0, [listing(2_000.0)]))

    assert STOPS[0] in {policy.choose(20.0 + now) for now in range(3)}


def test_the_same_observations_give_the_same_choices() -> None:
    def polls() -> list[tuple[float, str]]:
        street, policy = Street([100.0, 400.0, 700.0]), Adaptive(STOPS, [LINE])
        for now in range(0, 1_200, 5):
            street.ask(policy, float(now))
        return street.polls

    assert polls() == polls()


def test_no_stop_is_unseen_for_longer_than_the_floor_allows() -> None:
    """Few of the stops have buses, and these would take every permit."""
    floor_seconds = 6 * 3_600.0
    floor = replace(DEFAULTS.floor, longest_stop_unseen_seconds=floor_seconds)
    street = Street([600.0 + 120 * number for number in range(400)])
    codes = [*STOPS, *OTHER_STOPS[:60]]
    policy = Adaptive(codes, [LINE], parameters=replace(DEFAULTS, floor=floor))
    last_asked, longest = dict.fromkeys(codes, 0.0), 0.0
    for now in range(0, 45_000, 15):
        stop = policy.choose(float(now))
        longest, last_asked[stop] = max(longest, now - last_asked[stop]), float(now)
        policy.observe(good(stop, now + 0.1, street.listed(stop, now)))

    assert max(longest, 45_000 - min(last_asked.values())) <= floor_seconds + 60


def test_no_line_direction_is_unseen_for_longer_than_the_floor_allows() -> None:
    street = Street([600.0 + 120 * number for number in range(400)])
    quiet = [f"8{number:03}" for number in range(12)]
    policy = Adaptive([*STOPS, *quiet], [LINE, *(LineStops(stop, (stop,)) for stop in quiet)])
    asked: dict[str, list[float]] = {stop: [0.0] for stop in quiet}
    for now in range(0, 20_000, 5):
        stop = policy.choose(float(now))
        asked.get(stop, []).append(float(now))
        later = [listing(now + 3_000.0, stop)]
        policy.observe(good(stop, now + 0.1, street.listed(stop, now) if stop in STOPS else later))
    gaps = [after - before for times in asked.values() for before, after in itertools.pairwise(times)]

    assert max(gaps) <= DEFAULTS.floor.longest_pattern_unseen_seconds + 60
