"""The published file is enough by itself: in another place, under another name, without the lake."""

import re
import shutil
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import pytest

import transit_exports
from transit_base.promised import EXPORTED_WORKING, LISTED, WORKING
from transit_etl import paths
from transit_etl.service_day import service_date
from transit_etl.settings import Settings
from transit_etl.warehouse import last_durations
from transit_etl.warehouse.publishing import differences

ROME = ZoneInfo("Europe/Rome")


@pytest.fixture(scope="module")
def carried(built: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a copy of the file, as anyone who was sent it does; no other file can be read from it."""
    copy = tmp_path_factory.mktemp("elsewhere") / "any name-2.duckdb"
    shutil.copy(paths.published_database(built.data_dir), copy)
    with duckdb.connect(copy, read_only=True) as connection:
        connection.execute("set enable_external_access = false")
        yield connection


def test_every_table_and_view_can_be_read(carried: duckdb.DuckDBPyConnection) -> None:
    names = carried.execute(
        "select table_schema || '.' || table_name from information_schema.tables"
    ).fetchall()

    assert len(names) > 80
    for (name,) in names:
        carried.execute(f"select count(*) from (from {name})")


def test_it_holds_no_view_on_the_lake(carried: duckdb.DuckDBPyConnection) -> None:
    assert (
        []
        == carried.execute(
            "select view_name from duckdb_views() where not internal and contains(sql, 'read_parquet')"
        ).fetchall()
    )


def test_it_holds_what_is_promised_and_the_working_tables_that_views_and_feeds_read(
    carried: duckdb.DuckDBPyConnection,
) -> None:
    places = carried.execute("select table_schema, table_name from information_schema.tables").fetchall()
    schemas = {schema for schema, _ in places}
    working = {f"{schema}.{name}" for schema, name in places if schema == WORKING}
    names = (
        "detail_files", "drift_days", "inference_parameters", "lift_availability_monthly",
        "line_destinations", "median_ranks", "status_answers", "status_gaps", "status_unwatched",
        "stop_names", "unrecognised_dates", "waits_by_ruleset",
    )  # fmt: skip
    read_by_views = {f"{WORKING}.{name}" for name in names}  # or, the first, found beside the file

    assert {WORKING} == schemas - {*LISTED}
    assert {*EXPORTED_WORKING, *read_by_views} == working


def test_the_working_tables_published_for_commands_are_those_that_exports_and_diff_read() -> None:
    statements = [*Path(transit_exports.__file__).parent.rglob("*.sql"), Path(differences.__file__)]
    texts = [path.read_text(encoding="utf-8") for path in statements]

    assert {*EXPORTED_WORKING} == {name for text in texts for name in re.findall(rf"{WORKING}\.\w+", text)}


def test_it_says_what_it_is(carried: duckdb.DuckDBPyConnection, built: Settings) -> None:
    row = carried.execute(
        "select operator, timezone, service_day_cutoff, rulesets, n_lake_files > 0, first_date <= last_date "
        "from quality.publication"
    ).fetchall()

    assert [(built.operator, "Europe/Rome", time(4), [1], True, True)] == row


@pytest.mark.parametrize("day", [date(2026, 3, 29), date(2026, 10, 25), date(2026, 6, 1)])
def test_an_instant_has_its_service_date_and_its_local_time(
    carried: duckdb.DuckDBPyConnection, day: date
) -> None:
    midnight = datetime.combine(day, time(), UTC)
    for minutes in range(-120, 420, 15):
        instant = midnight + timedelta(minutes=minutes)
        local = instant.astimezone(ROME).replace(tzinfo=None)
        found = carried.execute(
            "select service_date($1::timestamp), local_time($1::timestamp)", [instant.replace(tzinfo=None)]
        ).fetchone()

        assert (service_date(instant, ROME, time(4)), local) == found


def test_shares_can_be_asked_for_other_thresholds(carried: duckdb.DuckDBPyConnection) -> None:
    sums = "select sum(n_scheduled), sum(n_on_time), sum(n_likely_on_time), sum({}) from {}"
    by_ruleset = carried.execute(sums.format("n_on_time + n_indeterminate", "marts.punctuality")).fetchone()

    assert (
        by_ruleset == carried.execute(sums.format("n_possibly_on_time", "on_time_share(-60, 359)")).fetchone()
    )
    assert (True,) == carried.execute(
        "select bool_and(on_time_share_low <= on_time_share_high) from on_time_share(-30, 60)"
    ).fetchone()


def test_names_stand_next_to_every_code(carried: duckdb.DuckDBPyConnection) -> None:
    coded = carried.execute(
        "select distinct schema_name, table_name from duckdb_columns() "
        "where schema_name in ('core', 'marts') and column_name in ('line_code', 'stop_code') "
        "and table_name not in ('stops', 'latest_lines')"
    ).fetchall()

    assert len(coded) > 15
    for schema, table in coded:
        counts = [f"(select count(*) from {place}.{table})" for place in (schema, "named")]
        assert (True,) == carried.execute(f"select {' = '.join(counts)}").fetchone(), table
    assert ("9 NEW TOWN - HILL",) == carried.execute(
        "select distinct line_name from named.lines where line_code = '009-00'"
    ).fetchone()


def test_it_is_remembered_how_long_building_and_publishing_took(built: Settings) -> None:
    assert {"build", "publish"} == set(last_durations(built.data_dir))
