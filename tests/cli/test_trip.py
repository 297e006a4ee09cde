"""The command `trip`, on a published warehouse of rehearsed hours."""

import json
from typing import Any

import duckdb
import pytest

from tests.cli.conftest import RunCli
from tests.warehouse.rehearsed import Rehearsed
from transit_etl.paths import published_database

_SEEN = """
select line_code, line_number, direction, service_date, departure_key,
    strftime(local_time(departure_at, operator), '%H:%M') as departs, n_visits
from core.scheduled_departures
inner join (select trip_key, n_visits, n_evidenced from core.trips) as trips on trip_key = matched_trip_key
inner join core.latest_lines using (operator, line_code)
where outcome = 'run' and is_in_force
order by n_evidenced desc, departure_key limit 1
"""


@pytest.fixture
def seen(rehearsed: Rehearsed) -> dict[str, Any]:
    """Return the departure with the most evidenced visits."""
    with duckdb.connect(published_database(rehearsed.settings.data_dir), read_only=True) as connection:
        row: dict[str, Any] = connection.sql(_SEEN).to_arrow_table().to_pylist()[0]
        return row


def test_a_departure_is_shown_with_its_calls_and_the_answers_about_them(
    cli: RunCli, rehearsed: Rehearsed, seen: dict[str, Any]
) -> None:
    words = (f"{seen['service_date']}", seen["departs"], "--direction", seen["direction"], "--json")
    shown = [
        cli("trip", line, *words, TRANSIT_DATA_DIR=str(rehearsed.settings.data_dir)).stdout
        for line in (seen["line_code"], seen["line_number"].lower())
    ]

    assert shown[0] == shown[1]
    departures, calls, answers = (json.loads(line) for line in shown[0].splitlines())
    assert [(seen["line_code"], "run")] == [(each["line"], each["outcome"]) for each in departures]
    assert list(range(1, len(calls) + 1)) == [call["position"] for call in calls]
    assert all(call["after"] <= call["passed"] <= call["before"] for call in calls if call["before"])
    assert seen["n_visits"] == sum(answer["proves"] == "last that lists it" for answer in answers)
    assert all(answer["request_id"] for answer in answers)
    evidenced = {call["stop"] for call in calls if call["quality"] == "evidenced"}
    assert evidenced <= {each["stop"] for each in answers if each["proves"] == "first without it"}


def test_where_there_is_no_departure_those_near_it_are_named(
    cli: RunCli, rehearsed: Rehearsed, seen: dict[str, Any]
) -> None:
    done = cli(
        "trip", seen["line_code"], f"{seen['service_date']}", "04:59",
        TRANSIT_DATA_DIR=str(rehearsed.settings.data_dir),
    )  # fmt: skip

    assert 1 == done.returncode
    assert "has no departure at 04:59" in done.stderr
    assert "near it are" in done.stderr


def test_a_line_that_is_not_known_and_a_time_that_is_none_are_told(cli: RunCli, rehearsed: Rehearsed) -> None:
    folder = str(rehearsed.settings.data_dir)

    assert "there is no line" in (cli("trip", "no'x", "2026-03-02", "08:15", TRANSIT_DATA_DIR=folder).stderr)
    assert "'8:15' is not a time" in cli("trip", "1", "2026-03-02", "8:15").stderr
