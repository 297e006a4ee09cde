"""Learns at which stops of a pattern its trips call, and divides these calls into thirds."""

from transit_etl.collect.planning.parameters import PlannerParameters


class Calls:
    """The calls of the trips of one pattern, by position; at the start all stops are assumed to be served."""

    __slots__ = ("_n_listed", "_n_unlisted", "_p", "_thirds", "_to_come", "_unserved_from")

    def __init__(self, n_stops: int, parameters: PlannerParameters) -> None:
        self._p = parameters.calls
        self._unserved_from = parameters.listing.telling_answers
        self._n_listed = [0] * n_stops
        self._n_unlisted = [0] * n_stops
        self._divide()

    def record_answer(self, position: int, *, is_listed: bool) -> None:
        """Count an answer of the stop at a position that listed a trip, or did not although it was due."""
        counts = self._n_listed if is_listed else self._n_unlisted
        counts[position] += 1
        n_listed, n_unlisted = self._n_listed[position], self._n_unlisted[position]
        limit = self._unserved_from
        if (n_unlisted == limit and not n_listed) or (n_listed == 1 and n_unlisted >= limit):
            self._divide()

    def probability(self, position: int) -> float:
        """Return how likely a trip calls at a position: short variants leave stops out."""
        n_listed, prior = self._n_listed[position], self._p.prior_listed_answers
        return (n_listed + prior) / (n_listed + self._n_unlisted[position] + prior)

    def third(self, position: int) -> int | None:
        """Return which third of the calls a position lies in (0, 1, 2); None near where two thirds meet."""
        return self._thirds[position]

    def to_come(self, position: int) -> tuple[int, int]:
        """Return how many stops come after a position, and how many of them in the same third."""
        return self._to_come[position]

    def _divide(self) -> None:
        is_served = [
            n_listed > 0 or n_unlisted < self._unserved_from
            for n_listed, n_unlisted in zip(self._n_listed, self._n_unlisted, strict=True)
        ]
        self._thirds = thirds_of(is_served, self._p.third_margin_share)
        n_after = len(is_served) - 1
        self._to_come = [
            (n_after - position, self._thirds[position + 1 :].count(third))
            for position, third in enumerate(self._thirds)
        ]


def thirds_of(is_served: list[bool], margin: float) -> list[int | None]:
    """Return by position the third of the served stops that it lies in.

    It is None within `margin`, as a share of a third, of where two thirds meet.
    """
    n_served, n_before = max(1, sum(is_served)), 0
    thirds: list[int | None] = []
    for served in is_served:
        along = 3.0 * (n_before + 0.5) / n_served
        low, high = (min(2, max(0, int(along + shift))) for shift in (-margin, margin))
        thirds.append(low if low == high else None)
        n_before += served
    return thirds
