"""The headline views of a published file: one answer a row, that can be cited, of dates that are over."""

from datetime import UTC

import pytest

from tests.warehouse.conftest import Rows
from tests.warehouse.rehearsed import DAY as DAY_OF_REHEARSAL
from tests.warehouse.rehearsed import Rehearsed
from transit_etl import warehouse
from transit_etl.service_day import DAY, service_date

MOST_COLUMNS = 11
OUTCOMES_UNKNOWN = "of some departures it is not known whether they ran"


@pytest.fixture(scope="module")
def headlines(rehearsed: Rehearsed) -> dict[str, Rows]:
    """Give the rows of each view."""
    names = warehouse.query(
        rehearsed.settings, "select view_name from duckdb_views() where schema_name = 'headline'"
    ).to_pylist()
    return {
        row["view_name"]: warehouse.query(rehearsed.settings, f"from headline.{row['view_name']}").to_pylist()
        for row in names
    }


def test_each_question_has_an_answer_of_an_operator_in_eleven_columns_at_most(
    headlines: dict[str, Rows],
) -> None:
    assert 8 == len(headlines)
    assert [] == [name for name, rows in headlines.items() if not rows or len(rows[0]) > MOST_COLUMNS]
    assert {"operator"} == {next(iter(row)) for rows in headlines.values() for row in rows}
    assert {"on_time_network", "on_time_months", "on_time_lines", "on_time_stops"} < headlines.keys()


def test_every_row_has_a_figure_with_its_interval_or_a_reason(headlines: dict[str, Rows]) -> None:
    rows = [row for found in headlines.values() for row in found]
    known = [row for row in rows if row["figure"] is not None]

    assert len(known) >= 2
    assert all(row["low"] <= row["figure"] <= row["high"] and row["precision"] for row in known)
    assert all(row["reason"] is None and " to " in row["sentence"] for row in known)
    assert all(
        row["sentence"].startswith("It is not known") and row["reason"] in row["sentence"]
        for row in rows
        if row["figure"] is None and row["reason"] != OUTCOMES_UNKNOWN
    )


def test_the_share_of_departures_that_ran_is_never_that_of_the_known_ones_alone(
    headlines: dict[str, Rows],
) -> None:
    rows = headlines["trips_delivered"]

    assert any(0 < row["coverage"] < 1 for row in rows)
    assert all((row["figure"] is None) == (row["low"] < row["high"]) for row in rows)
    assert all(row["sentence"].startswith("Between ") for row in rows if row["reason"] == OUTCOMES_UNKNOWN)


def test_no_two_rows_of_a_view_are_about_the_same(headlines: dict[str, Rows]) -> None:
    keys = ("operator", "episode_id", "line", "towards", "stop", "lift", "period")

    for name, rows in headlines.items():
        subjects = {tuple(row.get(key) for key in keys) for row in rows}
        assert len(rows) == len(subjects), name


def test_lines_are_called_by_number_and_terminus(headlines: dict[str, Rows], rehearsed: Rehearsed) -> None:
    lines = warehouse.query(rehearsed.settings, "from core.latest_lines").to_pylist()
    termini = {name for line in lines for name in (line["terminus_outbound"], line["terminus_inbound"])}
    rows = headlines["on_time_lines"]

    assert {row["towards"].split(" (")[0] for row in rows} <= termini
    assert {row["line"].split(" (")[0] for row in rows} <= {line["line_number"] for line in lines}


def test_a_date_counts_once_it_is_over(rehearsed: Rehearsed) -> None:
    settings = rehearsed.settings
    [closing] = warehouse.query(settings, "from quality.operators").to_pylist()
    [latest] = warehouse.query(
        settings, "select greatest(published_at, last_received_at) as at from quality.publication"
    ).to_pylist()
    today = service_date(latest["at"].replace(tzinfo=UTC), settings.zone, settings.service_day_cutoff)
    over = warehouse.query(
        settings,
        "select (select count(*) from core.closed_dates) = "
        "(select count(*) from core.service_days where service_date <= closed_date) as is_over "
        "from quality.operators",
    ).to_pylist()

    assert today - DAY == closing["closed_date"]
    assert [{"is_over": True}] == over


def test_every_reason_for_a_null_has_words(rehearsed: Rehearsed) -> None:
    columns = warehouse.query(
        rehearsed.settings,
        "select schema_name, table_name, column_name from duckdb_columns() "
        "where schema_name = 'marts' and column_name in ('null_reason', 'estimate_null_reason')",
    ).to_pylist()
    reasons = " union ".join(
        f"select {row['column_name']} as reason from {row['schema_name']}.{row['table_name']}"
        for row in columns
    )

    assert len(columns) > 10
    assert (
        []
        == warehouse.query(
            rehearsed.settings,
            f"from ({reasons}) anti join core.null_reasons using (reason) where reason is not null",
        ).to_pylist()
    )


def test_a_period_that_is_asked_for_has_the_figures_of_the_mart(rehearsed: Rehearsed) -> None:
    figures = "estimate_null_reason, null_reason, n_due, round(coverage, 9), round(on_time_share, 9)"
    asked = (
        "punctuality_between({'line_code': line_code, 'direction': direction}, "
        f"'{DAY_OF_REHEARSAL}', '{DAY_OF_REHEARSAL}')"
    )
    from_mart = f"select line_code, direction, {figures} from marts.punctuality_daily where n_visits > 0"
    from_function = (
        f"select key.line_code, key.direction, {figures} from {asked} where key.line_code is not null"
    )
    rows = warehouse.query(
        rehearsed.settings,
        f"select count(*) as n_rows, (select count(*) from ({from_mart} and line_code is not null "
        f"except {from_function})) as n_others from ({from_mart})",
    ).to_pylist()

    assert rows[0]["n_rows"] > 10
    assert 0 == rows[0]["n_others"]
