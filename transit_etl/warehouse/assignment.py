"""Adds the assignment of trips to departures to the connection of a build, as an SQL function."""

from collections.abc import Sequence

from dbt.adapters.duckdb.plugins import BasePlugin
from duckdb import DuckDBPyConnection

FUNCTION = "least_cost_pairs"


class Plugin(BasePlugin):  # type: ignore[misc]  # dbt's adapters are untyped
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
    `departures[n - 1]`, numbered from 1. A trip in no chosen pair costs `unpaired_cost`. Returns the numbers of
    the pairs chosen, in order.
    """
    import numpy as np  # noqa: PLC0415 - importing both takes half a second, which only a build has to wait
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

    n_trips, n_departures = max(trips), max(departures)
    # a column of its own for each trip stands for no departure
    matrix = np.full((n_trips, n_departures + n_trips), 2 * unpaired_cost + max(costs))
    matrix[np.arange(n_trips), n_departures + np.arange(n_trips)] = unpaired_cost
    numbers = np.zeros((n_trips, n_departures), dtype=int)
    rows, columns = np.array(trips) - 1, np.array(departures) - 1
    matrix[rows, columns] = costs
    numbers[rows, columns] = np.arange(len(costs)) + 1
    chosen_rows, chosen_columns = linear_sum_assignment(matrix)
    is_departure = chosen_columns < n_departures
    chosen = numbers[chosen_rows[is_departure], chosen_columns[is_departure]]
    return sorted(chosen[chosen > 0].tolist())
