"""Adds the assignment of trips to departures to the connection of a build, as an SQL function."""

from collections.abc import Sequence

from dbt.adapters.duckdb.plugins import BasePlugin
from duckdb import DuckDBPyConnection

FUNCTION = "least_cost_pairs"


class Plugin(BasePlugin):
    """What dbt loads for the profile `build` (sql/profiles.yml)."""

    def configure_connection(self, conn: DuckDBPyConnection) -> None:
        """Create the function `least_cost_pairs`."""
        conn.create_function(
            FUNCTION, least_cost_pairs, ["BIGINT[]", "BIGINT[]", "DOUBLE[]", "DOUBLE"], "BIGINT[]"
        )


def least_cost_pairs(
    trips: Sequence[int], departures: Sequence[int], costs: Sequence[float], unpaired_cost: float
) -> list[int]:
    """Choose pairs of trips and departures, each in one pair at most, so that the sum of costs is least.

    The three lists are of one length: pair n, counted from 1, is of trip `trips[n - 1]` and of departure
    `departures[n - 1]`, numbered from 1. A trip in no chosen pair costs `unpaired_cost`. Returns the numbers
    of the pairs chosen, in order.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - half a second, for builds alone

    n_trips, n_departures = max(trips), max(departures)
    numbers = {key: number for number, key in enumerate(zip(trips, departures, strict=True), start=1)}
    never = 2 * unpaired_cost + max(costs)
    matrix = [[never] * (n_departures + n_trips) for _ in range(n_trips)]
    for trip, departure, cost in zip(trips, departures, costs, strict=True):
        matrix[trip - 1][departure - 1] = cost
    for trip in range(n_trips):  # a column of its own stands for no departure
        matrix[trip][n_departures + trip] = unpaired_cost
    rows, columns = linear_sum_assignment(matrix)
    chosen = ((int(row) + 1, int(column) + 1) for row, column in zip(rows, columns, strict=True))
    return sorted(numbers[key] for key in chosen if key in numbers)
