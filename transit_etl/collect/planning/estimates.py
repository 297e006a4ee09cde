"""Estimates of instants: a mean with a standard deviation, and how two of them are combined."""

from math import hypot, sqrt
from typing import NamedTuple


class Estimate(NamedTuple):
    """When something is expected: `mean` in epoch seconds, `spread` its standard deviation in seconds."""

    mean: float
    spread: float


def fuse(one: Estimate, other: Estimate, disagreement_spreads: float) -> Estimate:
    """Return the average of two estimates weighted by their inverse variances.

    If they are further apart than `disagreement_spreads` of their combined standard deviation, one of them
    is wrong, and the one with the smaller spread is returned.
    """
    surer, other = (one, other) if one.spread <= other.spread else (other, one)
    mean, spread = surer
    if abs(other.mean - mean) > disagreement_spreads * hypot(spread, other.spread):
        return surer
    share = spread**2 / (spread**2 + other.spread**2)
    return Estimate(mean + share * (other.mean - mean), spread * sqrt(1.0 - share))
