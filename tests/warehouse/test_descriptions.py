"""Every table and column is described, in the project and in the database; checks say what they are."""

import json
from collections.abc import Callable
from typing import Any

import duckdb

from tests.warehouse.conftest import Rows
from transit_base.installed import part_of_project
from transit_etl import paths
from transit_etl.settings import Settings

OF_THE_FILE = "schema_name in ('intermediate', 'headline', 'core', 'marts', 'quality', 'named')"

Ask = Callable[[str], Rows]


def _nodes(settings: Settings) -> list[dict[str, Any]]:
    """Return the models, seeds and checks of the project, as dbt has read them for the last build."""
    manifest_of_dbt = paths.state_dir(settings.data_dir) / "dbt" / "target" / "manifest.json"
    return list(json.loads(manifest_of_dbt.read_text(encoding="utf-8"))["nodes"].values())


def _described(settings: Settings) -> dict[str, dict[str, str]]:
    """Return the described columns of each model and seed, by schema and name."""
    return {
        f"{node['schema']}.{node['alias']}": {
            name: column["description"] for name, column in node["columns"].items()
        }
        for node in _nodes(settings)
        if node["resource_type"] in ("model", "seed")
    }


def test_every_described_column_has_words(built: Settings) -> None:
    missing = [
        f"{table}.{column}"
        for table, columns in _described(built).items()
        for column, description in columns.items()
        if not description.strip()
    ]

    assert [] == missing


def test_the_columns_described_are_those_there_are(built: Settings) -> None:
    with duckdb.connect(paths.build_database(built.data_dir), read_only=True) as connection:
        rows = connection.execute(
            "select schema_name || '.' || table_name, list(column_name) from duckdb_columns() "
            "where not internal group by all"
        ).fetchall()
    columns = {name: set(names) for name, names in rows}
    described = _described(built)

    assert {} == {name: columns[name] ^ set(described[name]) for name in columns.keys() & described.keys()
                  if columns[name] != set(described[name])}  # fmt: skip


def test_every_table_view_and_column_has_a_comment_in_the_published_file(ask: Ask) -> None:
    relations = ask(
        f"select schema_name || '.' || table_name as name, comment from duckdb_tables() where {OF_THE_FILE} "
        f"union all select schema_name || '.' || view_name, comment from duckdb_views() where {OF_THE_FILE}"
    )
    columns = ask(
        "select schema_name || '.' || table_name || '.' || column_name as name from duckdb_columns() "
        f"where {OF_THE_FILE} and coalesce(trim(comment), '') = ''"
    )

    assert [] == [row["name"] for row in relations if not str(row["comment"]).startswith("One row per ")]
    assert [] == [row["name"] for row in columns]


def test_each_check_says_what_it_checks_and_only_those_of_logic_stop_a_build(built: Settings) -> None:
    """Generic and singular tests say so themselves: there is no default."""
    kinds = {
        node["name"]: (node["config"]["meta"].get("checks"), node["config"]["severity"].lower())
        for node in _nodes(built)
        if node["resource_type"] == "test"
    }

    assert {} == {
        name: kind for name, kind in kinds.items() if kind not in {("logic", "error"), ("data", "warn")}
    }
    assert ("data", "warn") in kinds.values()


def test_every_suite_of_expectations_is_about_data() -> None:
    """It sets rows aside, or a batch, and the rest goes on."""
    suites = sorted(part_of_project("expectations").glob("*.json"))

    assert suites
    assert {"data"} == {json.loads(suite.read_text("utf-8"))["meta"].get("checks") for suite in suites}
