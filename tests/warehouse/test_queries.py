"""A query of an analyst reads the published warehouse and the lake, and does nothing else."""

import itertools
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pytest

from transit_etl import paths, warehouse
from transit_etl.settings import Settings

SECRET = "the-secret"  # in every file that a query must not read
ROW = "of-the-lake"
PARQUET = "operator=testville/dataset=passages/date=2026-03-02/window.parquet"

READERS = [
    "from read_text('{}')", "from read_blob('{}')", "from read_csv('{}')", "from read_csv('{}', sep = ':')",
    "from read_json('{}')", "from read_json_objects('{}')", "from read_parquet('{}')", "from glob('{}')",
    "from read_duckdb('{}')", "from sniff_csv('{}')", "from parquet_schema('{}')", "from '{}'",
    "select * from query_table('{}')",
]  # fmt: skip
TO_READ = [
    "/etc/passwd", "{root}/secret.csv", "secret.csv", "file://{root}/secret.csv", "{root}/*.csv",
    "{data}/raw/answer.csv", "{data}/warehouse/build.duckdb", "{data}/lakeside/secret.csv",
    "{lake}/../raw/answer.csv", "{lake}/./../lakeside/*", "{lake}/link.csv", "{lake}/folder/secret.csv",
    "{lake}/folder/*", "data/lake/../raw/answer.csv", "/proc/self/environ", "http://127.0.0.1:{port}/x.csv",
]  # fmt: skip
COPIES = [
    "copy (select 1 as a) to '{}'", "copy (select 1 as a) to '{}' (format parquet)",
    "copy (select 1 as a) to '{}' (format csv, partition_by (a))", "copy core.lines to '{}'",
]  # fmt: skip
TO_WRITE = [
    "{lake}/new.csv", "{lake}/" + PARQUET, "{lake}/operator=x/dataset=y", "{root}/new.csv", "new.csv",
    "{data}/warehouse/warehouse.duckdb", "{data}/warehouse/build.duckdb", "{data}/raw/answer.csv",
    "{data}/warehouse/warehouse.duckdb.tmp/new.csv", "{data}/warehouse/warehouse.duckdb.wal",
    "{lake}/../raw/new.csv", "{lake}/folder/new.csv", "http://127.0.0.1:{port}/new.csv",
]  # fmt: skip
OTHERS = [
    "export database '{lake}/export'", "import database '{lake}/export'", "copy from database warehouse to x",
    "attach '{lake}/new.duckdb'", "attach '{data}/warehouse/build.duckdb' as other", "attach ':memory:' as x",
    "detach warehouse", "use core", "install httpfs", "load httpfs", "load '{root}/x.duckdb_extension'",
    "install httpfs from 'http://127.0.0.1:{port}'", "create table core.mine as select 1",
    "create temp table mine as select 1", "create or replace view staging.passages as select 1",
    "create macro core.f() as 1", "create secret s (type s3)", "create type t as enum ('a')",
    "insert into core.lines values ('x')", "insert into staging.passages values ('x')",
    "update core.lines set line_code = 'x'", "delete from core.lines", "truncate core.lines",
    "drop table core.lines", "drop view staging.passages", "alter table core.lines rename to mine",
    "merge into core.lines using core.lines as l on true when matched then delete",
    "set enable_external_access = true", "set allowed_directories = ['/']", "reset lock_configuration",
    "set lock_configuration = false", "set threads = 1", "set temp_directory = '{root}/spilled'",
    "set variable x = 1", "set file_search_path = '/etc'", "set secret_directory = '{root}'",
    "pragma enable_profiling", "pragma database_list", "pragma add_parquet_key('a', '0123456789112345')",
    "call enable_logging('QueryLog', storage = 'file', storage_path = '{lake}')", "call pragma_version()",
    "from enable_logging(storage = 'file', storage_path = '{lake}')", "vacuum", "checkpoint", "analyze",
    "force checkpoint", "begin", "prepare p as select 1", "execute p", "select getenv('HOME')",
    "from destroy_external_resource('read_text', '/etc/passwd')",
    "from json_execute_serialized_sql(json_serialize_sql('select 1'))", "from query('select 1')",
    "comment on table core.lines is 'x'", "pivot core.lines on line_code using count(*)", "", "-- nothing",
    "from secret", "from pandas_scan(1)", "select $1",
]  # fmt: skip
# What may stand around a statement. Where DuckDB does not even parse the result, nothing happens either.
AROUND: list[Callable[[str], str]] = [
    lambda attack: attack,
    lambda attack: f"select 1; {attack}",
    lambda attack: f"{attack}; select 1",
    lambda attack: f"/* a */ -- b\n{attack} -- c",
    lambda attack: f"explain analyze {attack}",
    lambda attack: f"explain (analyze) {attack}",
    lambda attack: f"explain (format json, analyze) {attack}",
    lambda attack: f"explain /* a */ analyze /* b */ {attack}",
    lambda attack: f"with x as ({attack}) from x",
    lambda attack: f"explain analyze with x as ({attack}) from x",
    lambda attack: f"with x as materialized ({attack}) select * from x union all from x",
    lambda attack: f"with y as (with x as ({attack}) from x) from y",
    lambda attack: f"with x as ({attack}) select 1",
    lambda attack: f"select * from ({attack})",
    lambda attack: f"select ({attack})",
    lambda attack: "from query('{}')".format(attack.replace("'", "''")),
    lambda attack: "from query('with x as ({}) from x')".format(attack.replace("'", "''")),
    lambda attack: "from json_execute_serialized_sql(json_serialize_sql('{}'))".format(
        attack.replace("'", "''")
    ),
]


class House(NamedTuple):
    """A published warehouse with files around it that a query must neither read nor change."""

    settings: Settings
    root: Path
    names: dict[str, object]
    requests: socket.socket

    def ask(self, sql: str) -> list[dict[str, Any]]:
        """Ask the published warehouse, every query of a text; return the rows of all."""
        return [row for rows in warehouse.query_all(self.settings, sql) for row in rows.to_pylist()]

    def contents(self) -> dict[str, bytes]:
        """Return every file, and every folder as an empty one."""
        return {str(path): path.read_bytes() if path.is_file() else b"" for path in self.root.rglob("*")}

    def is_asked_over_the_network(self) -> bool:
        """Tell whether a connection to the listening socket was opened."""
        try:
            self.requests.accept()
        except BlockingIOError:
            return False
        return True


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Make a warehouse with a view on the lake as builds do, secrets around it, and a listening socket."""
    root = tmp_path_factory.mktemp("house").resolve()
    data = root / "data"
    lake, published = paths.lake_dir(data), paths.published_database(data)
    for file in ("secret.csv", "data/raw/answer.csv", "data/lakeside/secret.csv", "elsewhere/secret.csv"):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(f"a:b\n{SECRET}:1\n")
    (lake / PARQUET).parent.mkdir(parents=True)
    published.parent.mkdir()
    (lake / "link.csv").symlink_to(root / "secret.csv")
    (lake / "folder").symlink_to(root / "elsewhere")
    duckdb.execute(f"copy (select '{ROW}' as line_code) to '{lake / PARQUET}' (format parquet)")
    for database, code in ((published, "018"), (paths.build_database(data), SECRET)):
        with duckdb.connect(database) as connection:
            connection.execute(f"""
                create schema core; create schema staging;
                create table core.lines as select '{code}' as line_code;
                create view staging.passages as
                from read_parquet('{lake}/operator=*/dataset=passages/date=*/*.parquet');
            """)
    with socket.create_server(("127.0.0.1", 0)) as requests, pytest.MonkeyPatch.context() as patch:
        requests.settimeout(0)
        patch.chdir(root)
        names = {"root": root, "data": data, "lake": lake, "port": requests.getsockname()[1]}
        yield House(Settings(data_dir=Path("data")), root, names, requests)


def attacks(around: int) -> Iterator[str]:
    """List attacks, with names of folders in braces: within each text some, and the first copies in all."""
    reads = [reader.format(path) for reader, path in itertools.product(READERS, TO_READ)]
    writes = [copy.format(path) for copy, path in itertools.product(COPIES, TO_WRITE)]
    for number, attack in enumerate(reads + writes + OTHERS):
        if around in {0, number % len(AROUND)} or attack in writes[: len(TO_WRITE)]:
            yield AROUND[around](attack)


# Plain attacks, and in the long tests the same within other texts.
@pytest.mark.parametrize(
    "around", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, len(AROUND)))]
)
def test_no_query_reads_writes_or_reaches_anything_else(house: House, around: int) -> None:
    before = house.contents()
    for attack in attacks(around):
        sql = attack.format(**house.names)
        try:
            rows = house.ask(sql)
        except warehouse.QueryError:
            rows = []

        assert SECRET not in str(rows), sql
        assert "root:" not in str(rows), sql
        assert "secret.csv" not in str(rows), sql
        assert not house.is_asked_over_the_network(), sql
        assert before == house.contents(), sql


@pytest.mark.parametrize("other", OTHERS)
def test_only_a_query_is_run(house: House, other: str) -> None:
    with pytest.raises(warehouse.QueryError):
        house.ask(other.format(**house.names))


@pytest.mark.parametrize("copy", ["{lake}/new.csv", "{data}/warehouse/warehouse.duckdb"])
def test_a_refusal_says_what_may_be_asked(house: House, copy: str) -> None:
    attack = f"with x as (copy (select 1) to '{copy.format(**house.names)}') from x"

    with pytest.raises(warehouse.QueryError, match=r"only a query is run here .*, which writes nothing"):
        house.ask(attack)
    answers = warehouse.query_all(house.settings, f"select 1; {attack}")
    with pytest.raises(warehouse.QueryError, match="only a query is run here"):
        next(answers)


def test_every_query_of_a_text_is_answered_in_order(house: House) -> None:
    assert [{"a": 1}, {"b": "018"}] == house.ask("select 1 as a;\nselect line_code as b from core.lines;")


def test_what_expects_one_answer_takes_one_query(house: House) -> None:
    with pytest.raises(warehouse.QueryError, match="one query at a time: this text holds 2"):
        warehouse.query(house.settings, "select 1; select 2")


@pytest.mark.parametrize(
    ("sql", "complaint"),
    [
        (
            "select line_cod from core.lines",
            r"not found in FROM clause! .* \(line 1, at: line_cod from core\.lines\)",
        ),
        ("select 1;\n\nselect *\nfrom nowhere", r"nowhere does not exist! .*\(line 4, at: nowhere\)"),
        ("select\n1 fro core.lines", r'syntax error at or near "core" \(line 2, at: core\.lines\)'),
        ("select error('two\nlines')", "two lines$"),
    ],
)
def test_a_wrong_query_is_one_line_with_the_place(house: House, sql: str, complaint: str) -> None:
    with pytest.raises(warehouse.QueryError, match=complaint) as raised:
        house.ask(sql)

    assert 1 == len(str(raised.value).splitlines())


def test_tables_are_found_and_shown_without_their_schema(house: House) -> None:
    assert [{"name": "lines"}] == house.ask("show tables")
    assert [{"line_code": "018"}] == house.ask("from lines")


@pytest.mark.parametrize(
    "sql",
    [
        "select line_code from staging.passages", "from staging.passages", "table staging.passages",
        "from read_parquet('{lake}/**/*.parquet')", "from 'data/lake/" + PARQUET + "'",
        "with lines as (from staging.passages) select * from lines union all from lines",
        "with recursive r as (from staging.passages union from r) select * from r",
        "/* first */ select (select line_code from staging.passages) as line_code -- last\n ;",
        "summarize staging.passages", "unpivot staging.passages on line_code",
        "pivot staging.passages on line_code in ('of-the-lake') using count(*)",
        "from staging.passages where line_code in (select line_code from staging.passages)",
    ],
)  # fmt: skip
def test_views_on_the_lake_and_its_files_can_be_read(house: House, sql: str) -> None:
    assert ROW in str(house.ask(sql.format(**house.names)))


@pytest.mark.parametrize(
    "sql",
    [
        "select 1 as a", "show databases", "show all tables", "describe core.lines", "values (1)",
        "describe select 1", "explain select 1", "EXPLAIN ANALYZE from core.lines",
        "explain (format json) select 1", "explain (analyze, format json)\nselect 1",
        "explain (select 1) union select 2", "explain with x as (from core.lines) from x",
        "select timezone('Europe/Rome', timestamptz '2026-03-02 08:00Z')", "from duckdb_columns()",
        "select " + " + ".join(["1"] * 200),
    ],
)  # fmt: skip
def test_what_selects_or_explains_is_answered(house: House, sql: str) -> None:
    assert house.ask(sql)


def test_an_extra_link_to_the_data_folder_changes_nothing(house: House) -> None:
    link = house.root / "link-to-data"
    link.symlink_to(house.settings.data_dir.resolve())
    try:
        rows = warehouse.query(Settings(data_dir=link), "select line_code from staging.passages").to_pylist()
    finally:
        link.unlink()

    assert [{"line_code": ROW}] == rows
