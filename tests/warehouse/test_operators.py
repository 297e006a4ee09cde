"""Two operators in one warehouse: nothing of one is changed by the other, whatever codes they share."""

import shutil
from pathlib import Path
from typing import NamedTuple

import duckdb
import pytest

from benchmarks.engines import SCHEMAS, compare_builds
from benchmarks.repeated_days import copy_rows
from tests.warehouse.conftest import Rows
from tests.warehouse.rehearsed import Rehearsed
from tests.warehouse.test_recipes import ON_HAND_MADE_TABLES, RECIPES
from transit_etl import paths, warehouse
from transit_etl.lake_schemas import DATASETS
from transit_etl.quoting import quoted_name, sql_text

pytestmark = [pytest.mark.long, pytest.mark.timeout(900), pytest.mark.xdist_group("warehouse")]
# The other operator is far west, and answers less often.
MINUTES_WEST = 437
KEPT_SHARE = 0.8
# Views whose sentences always name the operator; those of the others do where there are several.
ALWAYS_NAMED = {"on_time_months", "on_time_network"}


class Builds(NamedTuple):
    """The data folders of a warehouse with one operator alone, and of one with another beside it."""

    operator: str
    alone: Path
    both: Path


@pytest.fixture(scope="module")
def builds(rehearsed: Rehearsed, tmp_path_factory: pytest.TempPathFactory) -> Builds:
    """Build the rehearsed lake once more, with rows of another operator that has the same codes."""
    alone = rehearsed.settings
    both = alone.model_copy(update={"data_dir": tmp_path_factory.mktemp("operators") / "data"})
    for name in ("lake", "raw"):
        shutil.copytree(alone.data_dir / name, both.data_dir / name)
    _add_operator(both.data_dir, alone.operator, "other")
    warehouse.build(both)
    return Builds(alone.operator, alone.data_dir, both.data_dir)


def test_the_figures_of_an_operator_are_those_of_a_warehouse_with_it_alone(builds: Builds) -> None:
    schemas = (*SCHEMAS, "headline")
    compared = list(compare_builds(builds.alone, builds.both, builds.operator, schemas))

    assert {} == {
        each.table: differences
        for each in compared
        if (differences := [what for what in each.differences if not what.endswith("values of sentence")])
    }
    assert sum(each.n_rows for each in compared) > 10_000
    assert 8 == sum(each.table.startswith("headline.") and each.n_rows > 0 for each in compared)
    visits = _asked(builds.both, "select operator, count(*) as n from core.stop_visits group by all")
    assert {"other", builds.operator} == {row["operator"] for row in visits if row["n"] > 100}


def test_a_sentence_names_the_operator_where_the_warehouse_has_several(builds: Builds) -> None:
    views = [
        row["view_name"]
        for row in _asked(builds.alone, "select view_name from duckdb_views() where schema_name = 'headline'")
    ]
    for name in views:
        alone, both = (_asked(folder, f"from headline.{name}") for folder in (builds.alone, builds.both))
        words = "of {}" if name in ALWAYS_NAMED else " (operator {})"
        added = "" if name in ALWAYS_NAMED else words.format(builds.operator)

        assert {*_of(alone, builds.operator)} == {
            sentence.replace(added, "") for sentence in _of(both, builds.operator)
        }
        assert all(words.format(row["operator"]) in row["sentence"] for row in both)


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_the_answers_about_an_operator_are_those_of_a_warehouse_with_it_alone(
    builds: Builds, name: str
) -> None:
    alone, both = (_asked(folder, RECIPES[name]) for folder in (builds.alone, builds.both))

    assert alone == [row for row in both if row["operator"] == builds.operator]
    assert alone or name in ON_HAND_MADE_TABLES


def _of(rows: Rows, operator: str) -> list[str]:
    """Return the sentences of an operator."""
    return [row["sentence"] for row in rows if row["operator"] == operator]


def _asked(data: Path, sql: str) -> Rows:
    """Ask the build of a data folder a question; tables are found without their schema."""
    with duckdb.connect(paths.build_database(data), read_only=True) as connection:
        connection.execute("set timezone = 'UTC'; set search_path = 'main,core,marts,quality,headline'")
        rows: Rows = connection.sql(sql).to_arrow_table().to_pylist()
        return rows


def _add_operator(data: Path, operator: str, other: str) -> None:
    """Write an operator's rows into the lake once more as another's, later by hours, and fewer of them."""

    def changed(column: str, kind: str) -> str | None:
        name = quoted_name(column)
        if kind.startswith("TIMESTAMP"):
            return f"{name} + interval {MINUTES_WEST} minute"
        if column == "draws":  # whom the audit draws depends on the operator's name
            return "cast(null as varchar)"
        if column in {"request_id", "window"}:
            return f"{sql_text(other)} || {name}"
        return sql_text(other) if column == "operator" else None

    for dataset in DATASETS:
        kept = f"hash(request_id) % 100 < {100 * KEPT_SHARE}" if dataset == "passages" else "true"
        for path in paths.lake_files(data, dataset, operator):
            copy = Path(str(path).replace(f"operator={operator}/", f"operator={other}/"))
            copy_rows(str(path), copy, changed, kept)
