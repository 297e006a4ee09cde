"""Makes a published warehouse of many days and lines from one day of a published one, without polling.

Every table of core and marts with a service date is repeated, for each day and as many times a day as asked,
except the ledger of requests: dates and instants are moved, and keys and the codes of lines, stops and trips
get a number.
"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, date, datetime
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import httpx2

from transit_base.quoting import sql_text
from transit_emulator.app import create_app
from transit_emulator.world import build_world
from transit_etl import warehouse
from transit_etl.paths import published_database
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings

FIRST = date(2025, 1, 1)
START = datetime(2026, 3, 2, 3, 0, tzinfo=UTC)  # of the rehearsal: a Monday, when a service day begins
CITY = 14  # copies of the small network that have about as many passages a day as a city
_CODES = {
    "line_code", "line_number", "line_label", "stop_code", "from_stop_code", "to_stop_code", "trip_id",
    "listed_trip_id", "matched_trip_id",
}  # fmt: skip
_MEMORY = "2GB"
_DAYS_AT_ONCE = 10
_TABLES = """
select schema_name, table_name from duckdb_columns()
where database_name = 'template' and column_name = 'service_date'
    and (schema_name in ('core', 'marts') or (schema_name, table_name) in (('intermediate', 'leg_stops')))
    and (schema_name, table_name) in (select schema_name, table_name from duckdb_tables())
    and (schema_name, table_name) != ('core', 'requests')
order by all
"""
_COLUMNS = """
select column_name, data_type from duckdb_columns()
where database_name = 'template' and schema_name = ? and table_name = ?
order by column_index
"""


def add_options(parser: ArgumentParser) -> None:
    """Add what says how large the year is, and what it is made of."""
    parser.add_argument("--days", type=int, default=365)
    parser.add_argument("--copies", type=int, default=CITY, help="how often a day holds the small network")
    parser.add_argument("--hours", type=float, default=24, help="of the day that is rehearsed and repeated")
    parser.add_argument("--data", type=Path, help="repeat a day of this data folder instead")
    parser.add_argument("--folder", type=Path, help="where the year is made and kept")


@contextmanager
def year_of(options: Namespace) -> Iterator[Path]:
    """Yield a data folder with the year; it is made, by a process of its own, unless it is there.

    The processes that are measured afterwards would count the memory of the one that starts them.
    """
    with nullcontext(options.folder) if options.folder else TemporaryDirectory() as place:
        folder = Path(place)
        if not published_database(folder).exists():
            arguments = (options.data, folder, options.days, options.copies, options.hours)
            process = get_context("spawn").Process(target=_make, args=arguments)
            process.start()
            process.join()
            assert process.exitcode == 0
        yield folder


def _make(data: Path | None, folder: Path, n_days: int, n_copies: int, hours: float) -> None:
    data = data or rehearsed_template(folder, hours)
    make_year(published_database(data), published_database(folder), FIRST, n_days, n_copies)


def rehearsed_template(folder: Path, hours: float) -> Path:
    """Rehearse hours of the small network below a folder, build and publish them; return the data folder."""
    settings = Settings(data_dir=folder / "template", window_seconds=3600)
    transport = httpx2.ASGITransport(create_app(build_world("small", None, 1)))
    rehearse(settings, START, hours, transport=transport)
    warehouse.build(settings)
    warehouse.publish(settings)
    return settings.data_dir


def make_year(template: Path, target: Path, first: date, n_days: int, n_copies: int) -> None:
    """Write a warehouse whose every day is the fullest one of a template, several times over."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(template.read_bytes())
    with duckdb.connect(target) as connection:
        repeat_day(connection, template, _TABLES, first, n_days, n_copies)
        connection.execute(f"""
            update quality.publication set
                first_date = date '{first}', last_date = date '{first}' + {n_days - 1},
                published_at = date '{first}' + {n_days + 1}
        """)
        connection.execute(f"update quality.operators set closed_date = date '{first}' + {n_days - 1}")
        connection.execute("checkpoint")


def repeat_day(  # noqa: PLR0917 - what is repeated, and how often
    connection: duckdb.DuckDBPyConnection,
    template: Path,
    tables: str,
    first: date,
    n_days: int,
    n_copies: int,
) -> None:
    """Replace the rows of tables, which a query of the template lists, by those of its fullest day."""
    connection.execute(f"set timezone = 'UTC'; set memory_limit = '{_MEMORY}'")
    connection.execute("set preserve_insertion_order = false; set enable_progress_bar = false")
    connection.execute(f"attach {sql_text(str(template))} as template (read_only)")
    day = connection.execute(
        "select service_date from template.core.stop_visits group by 1 order by count(*) desc limit 1"
    ).fetchall()[0][0]
    for schema, table in connection.execute(tables).fetchall():
        columns = connection.execute(_COLUMNS, [schema, table]).fetchall()
        connection.execute(f"truncate {schema}.{table}")
        for start in range(0, n_days, _DAYS_AT_ONCE):
            days = range(start, min(start + _DAYS_AT_ONCE, n_days))
            connection.execute(_repeated(schema, table, columns, day, first, days, n_copies))


def _repeated(  # noqa: PLR0917 - a table, and how often it is repeated
    schema: str,
    table: str,
    columns: Sequence[tuple[str, str]],
    day: date,
    first: date,
    days: range,
    n_copies: int,
) -> str:
    moved = (first - day).days
    return f"""
        insert into {schema}.{table}
        select {", ".join(_columns(columns, moved))}
        from template.{schema}.{table} as day
        cross join range({days.start}, {days.stop}) as days(n_day)
        cross join range({n_copies}) as copies(n_copy)
        where day.service_date = date '{day}'
        order by n_day
    """


def _columns(columns: Sequence[tuple[str, str]], moved: int) -> Iterator[str]:
    for name, kind in columns:
        column = f'day."{name}"'
        if kind == "DATE":
            yield f"{column} + ({moved} + n_day)::integer"
        elif kind == "TIMESTAMP":
            yield f"{column} + to_days(({moved} + n_day)::integer)"
        elif kind == "UUID":
            yield f"md5(concat({column}, '/', n_day, '/', n_copy))::uuid"
        elif name in _CODES:
            yield f"{column} || '.' || n_copy"
        else:
            yield column
