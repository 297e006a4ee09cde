"""What a service date was built from is recorded, and changes with that alone."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.warehouse.lakes import TUESDAY, Lake, Line, Listed
from transit_etl.settings import Settings
from transit_etl.stage.compaction import compact
from transit_etl.warehouse import database
from transit_etl.warehouse.building.built_dates import read_inputs, record_built_dates, unchanged_dates
from transit_etl.warehouse.building.operators import record_operators

WEDNESDAY = TUESDAY + timedelta(days=1)
BOTH = [TUESDAY, WEDNESDAY]
REFERENCE: dict[str, list[object]] = {"testville": [("timing_points", "1001")]}
Digests = dict[date, tuple[str, str | None]]


@pytest.fixture
def connection(settings: Settings) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a build database in which both dates have requests, and a single ruleset is in force."""
    with database.open_build_database(settings) as connection:
        connection.execute("create schema core")
        connection.execute(
            "create table core.rulesets as "
            "select 1 as ruleset_version, '2020-01-01'::date as valid_from_date,"
            " '2030-01-01'::date as valid_to_date"
        )
        connection.execute(
            "create table core.service_days as select 'testville' as operator, unnest($1) as service_date",
            [BOTH],
        )
        record_operators(connection, settings)
        yield connection


def _poll(settings: Settings, day: date, clock: str, *, delay: str = "00") -> None:
    lake = Lake(settings.data_dir, settings.operator, day)
    lake.poll("1001", clock, Listed("T1", f"12:{delay}:00"))
    for path in lake.write():
        path.rename(path.with_stem(f"{path.stem}-{day}-{clock.replace(':', '')}"))


def _recorded(
    connection: duckdb.DuckDBPyConnection,
    settings: Settings,
    dates: list[date],
    *,
    number: int = 1,
    is_full: bool = False,
    reference: dict[str, list[object]] = REFERENCE,
) -> Digests:
    """Record a build of some dates; return the digests of all dates."""
    built_from = read_inputs(connection, settings, dates, reference)
    record_built_dates(
        connection, built_from, dates, build_number=number, models_fingerprint="f" * 64, is_full=is_full
    )
    rows = connection.execute("select service_date, answers_digest, context_digest from quality.built_dates")
    return {day: (answers, context) for day, answers, context in rows.fetchall()}


def test_the_same_lake_has_the_same_digests(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> None:
    for day in BOTH:
        _poll(settings, day, "12:00")

    assert set(BOTH) == _recorded(connection, settings, BOTH).keys()
    assert _recorded(connection, settings, BOTH) == _recorded(connection, settings, BOTH)


def test_an_answer_more_changes_its_date_and_the_context_of_later_ones(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> None:
    for day in BOTH:
        _poll(settings, day, "12:00")
    before = _recorded(connection, settings, BOTH)
    _poll(settings, TUESDAY, "13:00")
    after = _recorded(connection, settings, BOTH)

    assert before[TUESDAY][0] != after[TUESDAY][0]
    assert before[TUESDAY][1] == after[TUESDAY][1]
    assert before[WEDNESDAY][0] == after[WEDNESDAY][0]
    assert before[WEDNESDAY][1] != after[WEDNESDAY][1]


def test_an_answer_to_a_later_date_changes_no_earlier_one(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> None:
    for day in BOTH:
        _poll(settings, day, "12:00")
    before = _recorded(connection, settings, BOTH)
    _poll(settings, WEDNESDAY, "13:00")
    after = _recorded(connection, settings, BOTH)

    assert before[TUESDAY] == after[TUESDAY]
    assert before[WEDNESDAY][0] != after[WEDNESDAY][0]


def test_an_answer_that_is_read_otherwise_changes_its_date(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> None:
    _poll(settings, TUESDAY, "12:00")
    before = _recorded(connection, settings, [TUESDAY])
    _poll(settings, TUESDAY, "12:00", delay="01")

    assert before[TUESDAY] != _recorded(connection, settings, [TUESDAY])[TUESDAY]


def test_merging_the_files_of_a_day_changes_nothing(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> None:
    for clock in ("12:00", "13:00"):
        _poll(settings, TUESDAY, clock)
    before = _recorded(connection, settings, [TUESDAY])

    assert compact(settings, TUESDAY) > 0
    assert {TUESDAY} == unchanged_dates(
        connection, read_inputs(connection, settings, [TUESDAY], REFERENCE), [TUESDAY]
    )
    assert before == _recorded(connection, settings, [TUESDAY])


def test_of_two_dates_the_one_with_an_answer_more_is_changed(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> None:
    for day in BOTH:
        _poll(settings, day, "12:00")
    _recorded(connection, settings, BOTH)
    _poll(settings, TUESDAY, "13:00")

    assert {WEDNESDAY} == unchanged_dates(
        connection, read_inputs(connection, settings, BOTH, REFERENCE), BOTH
    )


def test_a_timetable_received_two_weeks_before_belongs_to_the_date_it_is_of(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> None:
    _poll(settings, TUESDAY, "12:00")
    before = _recorded(connection, settings, [TUESDAY])
    lake = Lake(settings.data_dir, settings.operator, TUESDAY - timedelta(days=14))
    lake.timetable("007-00", "06:00", "08:00", of=TUESDAY)
    lake.write()

    assert before[TUESDAY][0] != _recorded(connection, settings, [TUESDAY])[TUESDAY][0]


def test_the_first_list_of_lines_is_context_of_earlier_dates(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> None:
    _poll(settings, TUESDAY, "12:00")
    before = _recorded(connection, settings, [TUESDAY])
    lake = Lake(settings.data_dir, settings.operator, WEDNESDAY)
    lake.lines("12:00", Line("007-00", "7", "HARBOUR", "HILL"))
    lake.write()
    after = _recorded(connection, settings, [TUESDAY])

    assert before[TUESDAY][0] == after[TUESDAY][0]
    assert before[TUESDAY][1] != after[TUESDAY][1]


def test_other_judged_stops_change_the_context(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> None:
    _poll(settings, TUESDAY, "12:00")
    contexts = {
        _recorded(connection, settings, [TUESDAY], reference=reference)[TUESDAY][1]
        for reference in (REFERENCE, {}, REFERENCE)
    }

    assert 2 == len(contexts)


def test_the_context_is_unknown_after_a_date_that_an_older_version_built(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> None:
    for day in BOTH:
        _poll(settings, day, "12:00")

    assert _recorded(connection, settings, [WEDNESDAY])[WEDNESDAY][1] is None
    assert _recorded(connection, settings, [TUESDAY])[TUESDAY][1] is not None


def test_a_date_keeps_the_build_that_made_it_until_it_is_built_again(
    connection: duckdb.DuckDBPyConnection, settings: Settings
) -> None:
    for day in BOTH:
        _poll(settings, day, "12:00")
    _recorded(connection, settings, BOTH)
    _recorded(connection, settings, [WEDNESDAY], number=2)

    assert [(TUESDAY, 1, 1), (WEDNESDAY, 2, 1)] == _builds(connection)
    _recorded(connection, settings, [WEDNESDAY], number=3, is_full=True)
    assert [(WEDNESDAY, 3, 1)] == _builds(connection)


def _builds(connection: duckdb.DuckDBPyConnection) -> Iterable[tuple[object, ...]]:
    return connection.execute(
        "select service_date, build_number, ruleset_version from quality.built_dates order by service_date"
    ).fetchall()


def test_every_date_with_requests_says_what_it_was_built_from(
    ask: Callable[[str], list[dict[str, Any]]],
) -> None:
    rows = ask(
        "select build_number, ruleset_version, count(*) filter (context_digest is null) as n_unknown, "
        "count(distinct models_fingerprint) as n_models from core.service_days "
        "left join quality.built_dates using (operator, service_date) group by all"
    )

    assert [{"build_number": 1, "ruleset_version": 1, "n_unknown": 0, "n_models": 1}] == rows


def test_nothing_is_read_where_nothing_is_built(tmp_path: Path) -> None:
    with duckdb.connect() as connection:
        inputs = read_inputs(connection, Settings(data_dir=tmp_path), [], {})

    assert ({}, {}) == (inputs.answers, inputs.of_all_dates)
