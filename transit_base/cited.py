"""Rounds a figure and the ends of its interval as they are cited, wherever that is: as headlines have it.

The width of the interval says how many decimals it carries (`sql/seeds/precision_labels.csv`). The figure is
rounded to the nearest, the ends outwards, so that what is cited never says more than is known.
`sql/macros/headlines.sql` does the same in SQL.
"""

import csv
from functools import cache
from math import ceil, copysign, floor
from typing import Literal, NamedTuple

from transit_base.installed import part_of_project

Quantity = Literal["share", "wait_seconds"]
_FACTORS = {"share": 100}  # cited in percent


class Cited(NamedTuple):
    """Numbers as they are cited, of shares in percent, with so many decimals; -1 decimals are tens."""

    figure: float
    low: float
    high: float
    decimals: int


def cited(figure: float, low: float, high: float, quantity: Quantity = "share") -> Cited:
    """Round a figure, and the interval or the bounds in which it lies."""
    decimals = next(decimals for over, up_to, decimals in _widths()[quantity] if over < high - low <= up_to)
    scale, factor = 10.0**decimals, _FACTORS.get(quantity, 1)
    exact = [round(factor * value * scale, 6) for value in (figure, low, high)]
    nearest = copysign(floor(abs(exact[0]) + 0.5), exact[0])
    # adding 0 turns -0 into 0
    return Cited(nearest / scale + 0.0, floor(exact[1]) / scale + 0.0, ceil(exact[2]) / scale + 0.0, decimals)


@cache
def _widths() -> dict[str, list[tuple[float, float, int]]]:
    """Read the widths over and up to which an interval of each quantity carries so many decimals."""
    widths: dict[str, list[tuple[float, float, int]]] = {}
    path = part_of_project("sql") / "seeds" / "precision_labels.csv"
    with path.open(encoding="utf-8", newline="") as seed:
        for row in csv.DictReader(seed):
            each = float(row["over_width"]), float(row["up_to_width"]), int(row["decimals"])
            widths.setdefault(row["quantity"], []).append(each)
    return widths
