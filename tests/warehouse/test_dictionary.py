"""The data dictionary says all there is to say of every table and column, and nothing that is not so."""

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import duckdb
import pytest

from tests.meanings import refer_to_neighbours
from tests.warehouse.conftest import Rows
from transit_base.promised import NAMED
from transit_etl import paths
from transit_etl.settings import Settings
from transit_etl.warehouse.describing.contents import MADE_LATER
from transit_etl.warehouse.describing.dbt_manifest import Manifest
from transit_etl.warehouse.describing.dictionary import Dictionary, TableEntry
from transit_etl.warehouse.describing.dictionary_files import write_dictionary_files
from transit_etl.warehouse.describing.models import described_tables

Ask = Callable[[str], Rows]
SOURCES = {"upstream", "timetable", "observed", "estimated", "derived", "reference", "recorded", "setting"}
CODES = re.compile(r"[a-z_]+(, [a-z_]+)+")  # the values of a column that takes a few


def _published(settings: Settings, name: str) -> Path:
    return paths.published_database(settings.data_dir).with_name(name)


@pytest.fixture(scope="module")
def ask_either(built: Settings) -> Iterator[Ask]:
    """Ask the build and the published stories; a query names its database, `build` or `published`."""
    with duckdb.connect() as connection:
        for name, path in (("build", paths.build_database), ("published", paths.published_database)):
            connection.execute(f"attach '{path(built.data_dir)}' as {name} (read_only)")
        yield lambda sql: connection.sql(sql).to_arrow_table().to_pylist()


def _place(row: Mapping[str, object]) -> str:
    schema, table = row["schema_name"], row["table_name"]
    is_made_later = schema == NAMED or (schema, table) in MADE_LATER
    return f"{'published' if is_made_later else 'build'}.{schema}.{table}"


def test_no_column_lacks_any_field(ask: Ask) -> None:
    fields = ("type", "meaning", "unit", "source", "allowed_values", "example")
    lacking = " or ".join(f"coalesce({field}, '') = ''" for field in fields)

    assert [] == ask(
        f"select schema_name, table_name, column_name from quality.dictionary_columns where {lacking}"
    )
    assert {
        source["source"] for source in ask("select distinct source from quality.dictionary_columns")
    } <= SOURCES


def test_every_meaning_stands_alone(manifest: Manifest) -> None:
    meanings = {
        f"{table.schema}.{table.name}.{name}": column["description"]
        for table in described_tables(manifest)
        for name, column in table.columns.items()
    }

    assert {} == refer_to_neighbours(meanings)


def test_every_table_has_its_grain_and_its_key(ask: Ask) -> None:
    assert [] == ask("from quality.dictionary_tables where not starts_with(meaning, 'One row per ')")
    assert [{"table_name": "publication"}] == ask(
        "select table_name from quality.dictionary_tables where key_columns = '' and is_promised order by all"
    )


def test_a_model_says_what_it_reads(ask: Ask) -> None:
    assert [{"reads": "core.line_stops, intermediate.stop_names"}] == ask(
        "select reads from quality.dictionary_tables where table_name = 'stops'"
    )
    (drift,) = ask("select reads from quality.dictionary_tables where table_name = 'drift_days'")
    assert {"lake lines", "lake passages", "lake status"} <= {*str(drift["reads"]).split(", ")}


def test_it_has_every_column_of_the_build_and_of_the_file(ask_either: Ask) -> None:
    found = (
        "select schema_name, table_name, column_name, lower(data_type) as type from duckdb_columns() "
        "where not internal and schema_name not in ('main', 'staging')"
    )
    described = "select schema_name, table_name, column_name, type from published.quality.dictionary_columns"

    assert [] == ask_either(f"({found} except {described}) union all ({described} except {found})")


def test_a_comment_is_the_meaning_in_the_dictionary(ask: Ask) -> None:
    assert [] == ask(
        "select column_name from quality.dictionary_columns join duckdb_columns() as columns "
        "using (schema_name, table_name, column_name) where meaning <> columns.comment"
    )


@pytest.mark.long
def test_an_example_has_the_type_of_its_column(ask: Ask) -> None:
    rows = ask("select distinct type, example from quality.dictionary_columns where not contains(type, '[]')")
    wrong = [
        row
        for row in rows
        if ask(f"select try_cast($${row['example']}$$ as {row['type']}) is null as n")[0]["n"]
    ]

    assert [] == wrong


def test_columns_hold_only_the_values_they_may(ask_either: Ask) -> None:
    rows = ask_either(
        "select * from published.quality.dictionary_columns where type in ('varchar', 'boolean')"
    )
    coded = [row for row in rows if CODES.fullmatch(row["allowed_values"])]
    broken = [
        f"{row['table_name']}.{row['column_name']}"
        for row in coded
        if ask_either(
            f"select 1 from {_place(row)} where "
            f'"{row["column_name"]}"::varchar not in {tuple(row["allowed_values"].split(", "))} limit 1'
        )
    ]

    assert len(coded) > 40
    assert [] == broken


@pytest.mark.long
def test_a_column_with_nulls_says_that_it_may_be_null(ask_either: Ask) -> None:
    rows = ask_either(
        "select * from published.quality.dictionary_columns "
        "where schema_name in ('headline', 'core', 'marts') "
        "and not contains(meaning || allowed_values, 'null') and not contains(meaning, 'Null')"
    )
    assert [] == [
        f"{row['table_name']}.{row['column_name']}"
        for row in rows
        if ask_either(f'select 1 from {_place(row)} where "{row["column_name"]}" is null limit 1')
    ]


@pytest.mark.long
def test_numbers_lie_in_the_range_that_is_said(ask_either: Ask) -> None:
    rows = ask_either(
        "select *, regexp_extract(allowed_values, '^(-?[0-9.]+) (to|or)', 1) as low, "
        "regexp_extract(allowed_values, ' to (-?[0-9.]+)', 1) as high "
        "from published.quality.dictionary_columns "
        "where regexp_matches(allowed_values, '^-?[0-9.]+ (to -?[0-9.]+|or more)(, null)?$')"
    )

    assert len(rows) > 100
    assert [] == [
        f"{row['table_name']}.{row['column_name']}"
        for row in rows
        if ask_either(
            f'select 1 from {_place(row)} where "{row["column_name"]}" < {row["low"]} '
            f'or "{row["column_name"]}" > {row["high"] or 1e300} limit 1'
        )
    ]


def test_it_is_published_as_csv_too(built: Settings, ask: Ask) -> None:
    with _published(built, "dictionary.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))

    assert ask("select count(*) as n from quality.dictionary_columns") == [{"n": len(rows)}]
    assert {"true", "false"} == {row["is_promised"] for row in rows}


def test_every_promised_table_has_a_page_and_is_in_the_index(built: Settings, ask: Ask) -> None:
    pages = _texts(_published(built, "dictionary"))
    tables = {
        f"{row['schema_name']}.{row['table_name']}"
        for row in ask("from quality.dictionary_tables where is_promised")
    }

    assert {"index.md", "columns.md", *(f"{table}.md" for table in tables)} == pages.keys()
    assert tables <= set(re.findall(r"\[(\w+\.\w+)\]\(\1\.md\)", pages["index.md"]))


def test_pages_of_tables_that_there_are_no_more_go(tmp_path: Path) -> None:
    (tmp_path / "dictionary.md").touch()
    write_dictionary_files(tmp_path, _of_one_table("old"))
    write_dictionary_files(tmp_path, _of_one_table("new"))

    assert ["dictionary", "dictionary.csv"] == sorted(path.name for path in tmp_path.iterdir())
    assert {"columns.md", "core.new.md", "index.md"} == _texts(tmp_path / "dictionary").keys()


def test_pages_that_did_not_change_stay(tmp_path: Path) -> None:
    write_dictionary_files(tmp_path, _of_one_table("lines"))
    before = (tmp_path / "dictionary").stat().st_ino
    write_dictionary_files(tmp_path, _of_one_table("lines"))

    assert before == (tmp_path / "dictionary").stat().st_ino


def _of_one_table(name: str) -> Dictionary:
    return Dictionary([TableEntry("core", name, "One row per line.", "", "", is_promised=True)], [])


def _texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
