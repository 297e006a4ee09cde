"""The command `diff` on two small published files."""

import json
from pathlib import Path

import duckdb
import pytest

from tests.cli.conftest import RunCli
from transit_etl.paths import published_database

PUBLICATION = """
create schema core; create schema quality;
create table quality.publication as
select
    timestamp '2026-03-02 06:00' as published_at, '0.1.0' as version, 1 as build_number, 'abc' as fingerprint,
    [1] as rulesets;
create table core.lines (operator varchar, line_code varchar);
insert into core.lines values ('testville', '001'), ('testville', '002');
"""


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """Publish a small file into the data folder of the command line; return an earlier one with less."""
    path, published = tmp_path / "earlier.duckdb", published_database(tmp_path / "data")
    published.parent.mkdir(parents=True)
    for each in (path, published):
        with duckdb.connect(each) as connection:
            connection.execute(PUBLICATION)
    with duckdb.connect(published) as connection:
        connection.execute("insert into core.lines values ('testville', '003')")
        connection.execute("alter table core.lines add column note varchar")
    return path


def test_the_published_file_is_compared_with_an_earlier_one(cli: RunCli, earlier: Path) -> None:
    done = cli("diff", str(earlier))

    assert 0 == done.returncode
    assert "the two files" in done.stdout
    assert "core.lines" in done.stdout
    assert "rows by table and date" in done.stdout
    assert "figures are not compared, because a file lacks what they need" in done.stderr


def test_a_part_is_written_alone_as_json(cli: RunCli, earlier: Path) -> None:
    done = cli("diff", str(earlier), "--part", "rows", "--json")

    assert [
        {
            "table": "core.lines",
            "operator": "testville",
            "day": None,
            "n_added": 1,
            "n_removed": 0,
            "n_changed": 0,
        }
    ] == json.loads(done.stdout)


def test_a_file_that_is_not_there_is_one_line(cli: RunCli, tmp_path: Path) -> None:
    done = cli("diff", str(tmp_path / "none.duckdb"))

    assert 1 == done.returncode
    assert (
        f"transit-etl: {tmp_path / 'none.duckdb'} cannot be compared: there is no such file\n" == done.stderr
    )
