"""Two published files are compared: what differs, and by which cause each figure changed."""

import re
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pytest

from tests.warehouse.conftest import Rows
from tests.warehouse.lakes import TUESDAY, Lake, Listed
from transit_etl import paths, warehouse
from transit_etl.settings import Settings
from transit_etl.warehouse import Differences
from transit_etl.warehouse.building import dbt
from transit_etl.warehouse.publishing import differences
from transit_etl.warehouse.publishing.differences import ComparisonError, compare

Ask = Callable[[str], Rows]
Change = Callable[[str], Path]
CAUSES = ("by_data", "by_ruleset", "by_models", "not_separated")
WEDNESDAY = TUESDAY + timedelta(days=1)
TABLES = ("core.service_days", "core.stop_visits", "marts.punctuality", "quality.built_dates")


@pytest.fixture(scope="module")
def base(built: Settings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the published stories, with the day once more, and sure enough to have figures."""
    path = tmp_path_factory.mktemp("base") / "base.duckdb"
    shutil.copy(paths.published_database(built.data_dir), path)
    with duckdb.connect(path) as connection:
        connection.execute(
            "update marts.punctuality set on_time_variance = 0, common_error = 0, n_expected = 0"
        )
        for table in TABLES:
            connection.execute(
                f"insert into {table} select * replace (date '{WEDNESDAY}' as service_date) "
                f"from {table} where service_date = '{TUESDAY}'"
            )
    return path


@pytest.fixture
def before(base: Path, tmp_path: Path) -> Path:
    """Give a copy of them."""
    return Path(shutil.copy(base, tmp_path / "before.duckdb"))


@pytest.fixture
def changed(before: Path, tmp_path: Path) -> Change:
    """Return a function that gives another copy, changed by some SQL."""

    def change(sql: str) -> Path:
        path = tmp_path / "after.duckdb"
        shutil.copy(before, path)
        with duckdb.connect(path) as connection:
            connection.execute(sql)
        return path

    return change


def _figure(found: Differences, name: str) -> dict[str, Any]:
    rows = [row for row in found.parts["figures"].to_pylist() if row["figure"] == name]
    assert 1 == len(rows)
    return rows[0]


def _causes(found: Differences) -> set[str]:
    """Return the causes that any figure changed by; every change must be the sum of its parts."""
    rows = [*found.parts["figures"].to_pylist(), *found.parts["lines"].to_pylist()]
    assert rows
    for row in rows:
        if row["change"] is not None:
            assert pytest.approx(row["change"]) == row["after"] - row["before"]
            assert pytest.approx(row["change"]) == sum(row[cause] for cause in CAUSES)
    return {cause for row in rows for cause in CAUSES if row[cause] and abs(row[cause]) > 1e-9}


def _dates_of(found: Differences) -> list[tuple[date, str, str]]:
    rows = found.parts["dates"].to_pylist()
    return [(row["service_date"], row["change"], row["cause"]) for row in rows]


def _halve(day: date = TUESDAY) -> str:
    return (
        f"update marts.punctuality set expected_on_time = 0.5 * expected_on_time where service_date = '{day}'"
    )


def test_nothing_differs_between_copies_of_one_publication(before: Path, changed: Change) -> None:
    found = compare(before, changed("select 1"))

    assert {part: 0 for part in differences.PARTS if part != "publications"} == {
        part: rows.num_rows for part, rows in found.parts.items() if part != "publications"
    }
    assert ["lake files: 0 added, 0 removed, 0 written again"] == found.notes
    assert 0 == compare(before, before).parts["rows"].num_rows


def test_a_date_more_is_new_data(before: Path, changed: Change) -> None:
    without = changed(
        f"{_halve(WEDNESDAY)}; "
        + "; ".join(f"delete from {table} where service_date = '{TUESDAY}'" for table in TABLES)
    )
    with duckdb.connect(before) as connection:
        connection.execute(_halve(WEDNESDAY))
    found = compare(without, before)

    assert {"by_data"} == _causes(found)
    assert [(TUESDAY, "added", "data")] == _dates_of(found)
    [counted] = [row for row in found.parts["rows"].to_pylist() if row["table"] == "core.stop_visits"]
    assert (TUESDAY, 0, 0) == (counted["day"], counted["n_removed"], counted["n_changed"])
    assert counted["n_added"] > 10


@pytest.mark.long
def test_a_date_that_is_over_since_then_is_new_data(before: Path, changed: Change) -> None:
    with duckdb.connect(before) as connection:
        connection.execute(f"{_halve(WEDNESDAY)}")
    earlier = changed(f"update quality.operators set closed_date = '{TUESDAY}'")

    assert {"by_data"} == _causes(compare(earlier, before))


def test_the_parts_of_several_causes_add_up(before: Path, changed: Change) -> None:
    found = compare(
        before,
        changed(
            f"{_halve()}; {_halve(WEDNESDAY)}; {_halve(WEDNESDAY)}; "
            f"update quality.built_dates set answers_digest = 'x' where service_date = '{TUESDAY}'; "
            f"update quality.built_dates set ruleset_version = 2 where service_date = '{WEDNESDAY}'"
        ),
    )
    figure = _figure(found, "estimated_on_time_share")

    assert {"by_data", "by_ruleset"} == _causes(found)
    assert pytest.approx(1.5) == figure["by_ruleset"] / figure["by_data"]


@pytest.mark.parametrize(
    ("recorded", "cause"),
    [
        ("answers_digest = '0000000000000000'", "by_data"),
        pytest.param("context_digest = '0000000000000000'", "by_data", marks=pytest.mark.long),
        ("ruleset_version = 2", "by_ruleset"),
        ("models_fingerprint = repeat('0', 64)", "by_models"),
    ],
)
def test_a_figure_changes_by_the_input_that_differs(
    before: Path, changed: Change, recorded: str, cause: str
) -> None:
    found = compare(before, changed(f"{_halve()}; update quality.built_dates set {recorded}"))
    figure = _figure(found, "estimated_on_time_share")

    assert {cause} == _causes(found)
    assert figure["change"] < 0
    assert {cause.removeprefix("by_")} == {row["cause"] for row in found.parts["dates"].to_pylist()}


def test_a_date_that_only_its_record_differs_of_is_not_listed(before: Path, changed: Change) -> None:
    other = changed(
        f"update quality.built_dates set answers_digest = 'x' where service_date = '{TUESDAY}'; "
        f"insert into quality.built_dates select * replace (date '{WEDNESDAY}' + 1 as service_date) "
        f"from quality.built_dates where service_date = '{WEDNESDAY}'"
    )

    assert [] == _dates_of(compare(before, other))


@pytest.mark.long
def test_other_thresholds_under_the_same_version_are_another_ruleset(before: Path, changed: Change) -> None:
    found = compare(before, changed(f"{_halve()}; update core.rulesets set late_seconds = 299"))

    assert {"by_ruleset"} == _causes(found)


def test_what_changed_at_once_is_not_separated(before: Path, changed: Change) -> None:
    recorded = "models_fingerprint = repeat('0', 64), answers_digest = '0000000000000000'"
    found = compare(before, changed(f"{_halve()}; update quality.built_dates set {recorded}"))

    assert {"not_separated"} == _causes(found)
    assert (
        f"data and models changed ({TUESDAY} to {TUESDAY})"
        == (_figure(found, "estimated_on_time_share")["why_not_separated"])
    )


@pytest.mark.long
def test_a_change_that_nothing_recorded_explains_has_no_cause(before: Path, changed: Change) -> None:
    found = compare(before, changed(_halve()))

    assert {"not_separated"} == _causes(found)
    assert (
        "nothing that is recorded differs" in (_figure(found, "estimated_on_time_share")["why_not_separated"])
    )


@pytest.mark.long
def test_a_figure_that_the_functions_make_otherwise_changes_by_the_models(
    before: Path, changed: Change
) -> None:
    with duckdb.connect(before, read_only=True) as connection:
        [(definition,)] = connection.execute(
            "select macro_definition from duckdb_functions() where function_name = 'punctuality_between'"
        ).fetchall()
    other = definition.replace(
        "(CAST(expected_on_time AS DOUBLE) / n_due)", "(0.5 * CAST(expected_on_time AS DOUBLE) / n_due)"
    )
    assert other != definition
    found = compare(
        before,
        changed(
            f"create or replace macro punctuality_between(key, from_date, to_date) as table {other}; "
            "update quality.publication set fingerprint = repeat('0', 64)"
        ),
    )

    assert {"by_models"} == _causes(found)


def test_a_file_of_an_older_version_is_compared_without_what_it_lacks(before: Path, changed: Change) -> None:
    older = changed(
        f"{_halve()}; drop table quality.built_dates; drop view named.headways; drop table marts.crowding"
    )
    found = compare(older, before)

    assert any("before has no quality.built_dates" in note for note in found.notes)
    # the fingerprints and rulesets of the files are the same: only the data can have changed
    assert {"by_data"} == _causes(found)
    with duckdb.connect(older) as connection:
        connection.execute("update quality.publication set fingerprint = repeat('0', 64)")
    found = compare(older, before)
    assert {"not_separated"} == _causes(found)
    assert {"data and ruleset and models may have changed"} == {
        row["why"] for row in found.parts["dates"].to_pylist()
    }


@pytest.mark.long
def test_a_file_without_the_dates_that_count_is_compared_but_for_its_figures(
    before: Path, changed: Change
) -> None:
    found = compare(changed("drop view core.closed_dates"), before)

    assert {"publications", "columns", "rows", "dates"} == found.parts.keys()
    assert ["closed_dates" in note for note in found.notes if "figures are not compared" in note] == [True]


@pytest.mark.long
def test_a_source_without_a_column_is_left_out(before: Path, changed: Change) -> None:
    found = compare(before, changed(f"{_halve()}; alter table marts.headways drop column expected_gaps"))

    assert any("there is no marts.headways.expected_gaps after" in note for note in found.notes)
    assert {"not_separated"} == _causes(found)


@pytest.mark.long
def test_a_file_with_other_functions_has_figures_of_its_sums(before: Path, changed: Change) -> None:
    found = compare(before, changed(f"{_halve()}; drop macro table punctuality_between"))

    assert any("the file after has other functions" in note for note in found.notes)
    assert _figure(found, "estimated_on_time_share")["change"] < 0


def test_tables_and_columns_that_differ_are_listed(before: Path, changed: Change) -> None:
    found = compare(
        before,
        changed(
            "create table marts.more (a integer); alter table marts.crowding add column added integer; "
            "drop table marts.impact_placebo; drop view headline.lifts; "
            "alter table quality.findings alter n_rows type double"
        ),
    )

    assert [
        ("headline.lifts", None, "removed", "table", None),
        ("marts.crowding", "added", "added", None, "INTEGER"),
        ("marts.impact_placebo", None, "removed", "table", None),
        ("marts.more", None, "added", None, "table"),
        ("quality.findings", "n_rows", "other type", "BIGINT", "DOUBLE"),
    ] == [tuple(row.values()) for row in found.parts["columns"].to_pylist()]


def test_rows_are_counted_by_their_key(before: Path, changed: Change) -> None:
    found = compare(
        before,
        changed(
            "update core.stop_visits set delay_seconds = coalesce(delay_seconds, 0) + 1 where rowid < 3; "
            "delete from core.stop_visits where rowid = 5; "
            "insert into core.news select * replace ('another' as news_id) from core.news limit 1"
        ),
    )
    rows = found.parts["rows"].to_pylist()

    counts = {table: [0, 0, 0] for table in ("core.stop_visits", "core.news")}
    for row in rows:
        for place, name in enumerate(("n_added", "n_removed", "n_changed")):
            counts[row["table"]][place] += row[name]
    assert {"core.stop_visits": [0, 1, 3], "core.news": [1, 0, 0]} == counts


def test_a_figure_that_one_file_does_not_know_is_not_split(before: Path, changed: Change) -> None:
    found = compare(
        before,
        changed(f"{_halve()}; update marts.punctuality set n_expected = n_due, expected_on_time = 1"),
    )
    row = _figure(found, "estimated_on_time_share")

    assert "nothing observed" == row["reason_after"]
    assert [None] * 6 == [row[name] for name in ("after", "change", *CAUSES)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_bytes(b"no database"), "not a valid DuckDB database"),
        (lambda path: path.mkdir(), "is a folder where a file belongs"),
        (lambda path: path.unlink(missing_ok=True), "there is no such file"),
        (lambda path: duckdb.connect(path).close(), "is no published warehouse"),
    ],
)
def test_what_is_no_published_file_is_named_in_one_line(
    before: Path, tmp_path: Path, make: Callable[[Path], object], message: str
) -> None:
    other = tmp_path / "other.duckdb"
    make(other)

    with pytest.raises(ComparisonError, match=f"^[^\n]*{re.escape(str(other))}[^\n]*{message}[^\n]*$"):
        compare(before, other)


def _tell(lake: Lake, day: date) -> None:
    lake.day = day
    lake.poll("1001", "12:00", Listed("T1", "12:01:00"))
    lake.write()


def _publish(settings: Settings, name: str) -> Path:
    warehouse.build(settings)
    warehouse.publish(settings)
    return Path(shutil.copy(paths.published_database(settings.data_dir), settings.data_dir.parent / name))


def _dates(before: Path, after: Path) -> list[tuple[date, str, str]]:
    return _dates_of(compare(before, after))


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(900)
def test_builds_record_the_cause_of_what_they_change(settings: Settings) -> None:
    lake = Lake(settings.data_dir, settings.operator)
    _tell(lake, TUESDAY)
    first = _publish(settings, "first")
    _tell(lake, WEDNESDAY)
    with_a_date = _publish(settings, "with a date")
    stricter = settings.model_copy(update={"ruleset": 2})
    by_ruleset = _publish(stricter, "by ruleset")
    with patch.object(dbt, "fingerprint", return_value="0" * 64):
        by_models = _publish(stricter, "by models")

    assert [(WEDNESDAY, "added", "data")] == _dates(first, with_a_date)
    assert [(TUESDAY, "changed", "ruleset"), (WEDNESDAY, "changed", "ruleset")] == _dates(
        with_a_date, by_ruleset
    )
    assert [] == _dates(by_ruleset, by_models)  # the models made the same rows
