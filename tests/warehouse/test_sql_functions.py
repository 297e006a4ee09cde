"""The functions of the models: those of each engine in SQL, and chains, which SQL cannot express."""

import shutil
from pathlib import Path

import duckdb
import pytest

from transit_etl.engine_functions import called_functions, function_statements
from transit_etl.settings import BuildSettings
from transit_etl.sql_functions import chain_starts
from transit_etl.warehouse.building import dbt
from transit_etl.warehouse.describing.dbt_manifest import PROJECT

SPARKS_OWN = {
    "array_join", "array_remove", "arrays_overlap", "collect_set", "get_json_object", "json_object_keys",
    "percentile", "raise_error",
}  # fmt: skip


def test_spark_has_each_function_of_duckdb() -> None:
    assert set(function_statements("duckdb")) - SPARKS_OWN <= set(function_statements("spark"))
    assert not SPARKS_OWN & set(function_statements("spark"))


def test_a_query_takes_along_the_functions_that_it_calls_and_those_that_these_call() -> None:
    with duckdb.connect() as connection:
        for statement in called_functions(["create view a as select names_in(lines)", "select 1"]):
            connection.execute(statement)
        created = connection.execute(
            "select function_name from duckdb_functions() where not internal"
        ).fetchall()
        names = connection.execute("select names_in(['Linee 12, 13 e 17/', 'Metro'])").fetchall()

    assert {("line_label_form",), ("line_label_forms",), ("names_in",)} == set(created)
    assert [(["12", "13", "17/", "Metro"],)] == names


@pytest.mark.parametrize(
    "changed",
    [
        "engines/duckdb.sql",
        "macros/shares.sql",
        "models/facts/trips.sql",
        "seeds/rulesets.csv",
        "dbt_project.yml",
    ],
)
def test_dates_are_built_again_after_whatever_makes_their_tables_changed(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(PROJECT, tmp_path / "sql", ignore=shutil.ignore_patterns("target", "logs"))
    monkeypatch.setattr(dbt, "PROJECT", tmp_path / "sql")
    before = dbt.fingerprint(BuildSettings())
    with (tmp_path / "sql" / changed).open("a", encoding="utf-8") as file:
        file.write("\n")

    assert before != dbt.fingerprint(BuildSettings())


def test_dates_are_built_again_after_a_python_function_of_the_models_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = dbt.fingerprint(BuildSettings())
    copies = [Path(shutil.copy(path, tmp_path)) for path in dbt.FUNCTION_FILES]
    monkeypatch.setattr(dbt, "FUNCTION_FILES", copies)
    unchanged = dbt.fingerprint(BuildSettings())
    copies[0].write_text(copies[0].read_text().replace("TELLING_TRIPS = 20", "TELLING_TRIPS = 10"))

    assert before == unchanged
    assert before != dbt.fingerprint(BuildSettings())


def test_a_chain_begins_with_the_element_that_nothing_leads_to() -> None:
    assert [1, 2, 1, 1] == chain_starts([1, 3], [3, 4])


def test_the_best_link_of_an_element_is_kept_on_each_side() -> None:
    """1 to 3 comes first: neither 1 to 2 nor 2 to 3 is left for them, but 2 to 4 is."""
    assert [1, 2, 1, 2] == chain_starts([1, 1, 2, 2], [3, 2, 3, 4])


def test_without_links_there_are_no_chains() -> None:
    assert [] == chain_starts([], [])
