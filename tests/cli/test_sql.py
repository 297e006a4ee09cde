"""The commands `sql`, `tables` and `describe` on a published warehouse."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import RunCli
from transit_etl.paths import published_database
from transit_etl.settings import Settings
from transit_etl.warehouse.building.dbt import fingerprint


@pytest.fixture
def published(tmp_path: Path) -> Path:
    """Publish a small warehouse into the data folder of the test's command line."""
    path = published_database(tmp_path / "data")
    path.parent.mkdir(parents=True)
    with duckdb.connect(path) as connection:
        connection.execute("""
            create schema core; create schema quality;
            create table core.lines (line_code varchar, share double);
            insert into core.lines values ('015-00', 1.5), ('[x]', 'nan');
            comment on table core.lines is 'One row per line.';
            comment on column core.lines.line_code is 'Key of the line.';
            create table quality.dictionary_columns as
            select 'core' as schema_name, 'lines' as table_name, 'line_code' as column_name, 'code' as unit,
                'upstream' as source;
        """)
    return path


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize("words", [("sql", "from core.news"), ("report",), ("export", "core.lines")])
def test_where_other_models_made_the_file_a_missing_table_is_told_with_what_to_run(
    cli: RunCli, words: tuple[str, ...]
) -> None:
    done = cli(*words)

    assert 1 == done.returncode
    assert "run `transit-etl build` and `transit-etl publish`\n" in done.stderr


def test_where_these_models_made_the_file_a_missing_table_is_just_one(cli: RunCli, published: Path) -> None:
    with duckdb.connect(published) as connection:
        connection.execute(
            f"create table quality.publication as select '{version('transit-etl')}' as version, "
            f"'{fingerprint(Settings())}' as fingerprint"
        )
    done = cli("sql", "from core.news")

    assert 1 == done.returncode
    assert "transit-etl publish" not in done.stderr


@pytest.mark.usefixtures("published")
def test_every_result_of_a_text_is_printed(cli: RunCli) -> None:
    done = cli("sql", "select 1 as a; from lines")

    assert 0 == done.returncode, done.stderr
    assert 1 == done.stdout.count("1 row\n")
    assert "│ [x]       │" in done.stdout


@pytest.mark.usefixtures("published")
def test_a_query_comes_from_an_argument_a_file_or_standard_input(cli: RunCli, tmp_path: Path) -> None:
    file = tmp_path / "query.sql"
    file.write_text("select 7 as n")
    piped = subprocess.run(
        [sys.executable, "-m", "transit_etl.cli", "sql", "--json"],
        input="select 7 as n",
        env={"TRANSIT_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        check=True,
    )

    assert [{"n": 7}] == json.loads(cli("sql", str(file), "--json").stdout) == json.loads(piped.stdout)


@pytest.mark.usefixtures("published")
def test_rows_are_written_into_a_file_in_the_format_of_its_ending(cli: RunCli, tmp_path: Path) -> None:
    done = cli("sql", "from core.lines", "--output", str(tmp_path / "lines.csv"))

    assert ("", 0) == (done.stdout, done.returncode)
    assert "line_code,share\n015-00,1.5\n[x],nan\n" == (tmp_path / "lines.csv").read_text()


@pytest.mark.usefixtures("published")
def test_a_query_that_fails_writes_no_file(cli: RunCli, tmp_path: Path) -> None:
    done = cli("sql", "from core.nothing", "--output", str(tmp_path / "lines.csv"))

    assert 1 == done.returncode
    assert 1 == len(done.stderr.splitlines())
    assert not (tmp_path / "lines.csv").exists()


@pytest.mark.usefixtures("published")
def test_tables_and_columns_are_listed_with_their_comments(cli: RunCli) -> None:
    assert [
        {"table": "core.lines", "meaning": "One row per line."},
        {"table": "quality.dictionary_columns", "meaning": None},
    ] == json.loads(cli("tables", "--json").stdout)
    for name in ("core.lines", "lines", "LINES"):
        first, second = json.loads(cli("describe", name, "--json").stdout)
        assert {
            "column": "line_code", "type": "varchar", "unit": "code", "source": "upstream",
            "meaning": "Key of the line.",
        } == first  # fmt: skip
        assert "share" == second["column"]


@pytest.mark.usefixtures("published")
def test_an_unknown_table_is_answered_with_the_nearest(cli: RunCli) -> None:
    done = cli("describe", "core.line")

    assert (1, "transit-etl: there is no table 'core.line': is it core.lines?\n") == (
        done.returncode,
        done.stderr,
    )
    assert "transit-etl tables lists them" in cli("describe", "o'x").stderr
