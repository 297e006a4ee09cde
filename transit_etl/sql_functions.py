"""The functions of the models: those in `sql/engines`, and Python functions for what SQL cannot express."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.duckdb.plugins import BasePlugin
from duckdb import DuckDBPyConnection

from transit_estimates.matching import least_cost_pairs, pair_probabilities
from transit_etl.engine_functions import function_statements


@dataclass(frozen=True, slots=True)
class SqlFunction:
    """A function on lists of one group, and the SQL types of its arguments and of what it returns."""

    function: Callable[..., Any]
    argument_types: tuple[str, ...]
    return_type: str

    @property
    def name(self) -> str:
        """The name that SQL calls it by."""
        return self.function.__name__


class Plugin(BasePlugin):
    """What dbt loads for the profile `build` (sql/profiles.yml)."""

    def configure_connection(self, conn: DuckDBPyConnection) -> None:
        """Create the functions in a connection; those in SQL stay in the database, for its views."""
        conn.execute(";".join(function_statements("duckdb").values()))
        for each in FUNCTIONS:
            conn.create_function(
                each.name, each.function, [_duckdb_type(name) for name in each.argument_types],
                _duckdb_type(each.return_type),
            )  # fmt: skip


def chain_starts(earlier: Sequence[int], later: Sequence[int]) -> list[int]:
    """Chain elements by links of which each element has one to an earlier and one to a later one at most.

    Link n leads from element `earlier[n]` to element `later[n]`, numbered from 1; the earlier one has the
    smaller number. The first links are the best: each is kept if both its ends are still free. Returns for
    the elements 1, 2 … up to the last that has a link the one that its chain begins with.
    """
    before: dict[int, int] = {}
    followed: set[int] = set()
    for first, second in zip(earlier, later, strict=True):
        if first not in followed and second not in before:
            followed.add(first)
            before[second] = first
    starts = list(range(max(later, default=0) + 1))
    for element in range(1, len(starts)):
        if element in before:
            starts[element] = starts[before[element]]
    return starts[1:]


FUNCTIONS = (
    SqlFunction(
        least_cost_pairs, ("array<bigint>", "array<bigint>", "array<double>", "double"), "array<bigint>"
    ),
    SqlFunction(
        pair_probabilities,
        (*2 * ("array<bigint>",), *5 * ("array<double>",), "bigint", "double"),
        "array<struct<pair: bigint, is_chosen: boolean, probability: double, common_seconds: double>>",
    ),
    SqlFunction(chain_starts, ("array<bigint>", "array<bigint>"), "array<bigint>"),
)


def _duckdb_type(name: str) -> Any:  # noqa: ANN401 - DuckDB takes the name for the type
    element = name.removeprefix("array<")
    return element.replace("struct<", "struct(").replace(">>", ")[]").replace(">", "[]").replace(":", "")
