"""The recipes, and the marts that need a real-looking hour: on a rehearsed lake whose truth is known."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

import duckdb
import httpx
import pytest

from tests.warehouse.conftest import Rows
from transit_emulator.app import create_app
from transit_emulator.truth import write_truth
from transit_emulator.world import build_world
from transit_etl import warehouse
from transit_etl.paths import part_of_project, published_database
from transit_etl.rehearsal import rehearse
from transit_etl.settings import Settings

pytestmark = pytest.mark.xdist_group("warehouse")  # one build for all

START = datetime(2026, 11, 18, 6, 0, tzinfo=UTC)  # a Wednesday, seven o'clock local time
HOURS = 1.5
RECIPES = part_of_project("sql") / "analyses"
NEEDS_ANOTHER_BUILD = {"compare_two_rulesets"}
Recipe = Callable[[str], Rows]


class Rehearsed(NamedTuple):
    """A rehearsed, built and published lake, and the folder of its truth."""

    settings: Settings
    truth: Path


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Rehearsed:
    """Rehearse a busy hour and a half of the small network."""
    folder = tmp_path_factory.mktemp("rehearsed")
    world = build_world("small", None, 1)
    write_truth(world, date(2026, 11, 18), date(2026, 11, 18), folder / "truth")
    settings = Settings(data_dir=folder / "data", window_seconds=3600)
    rehearse(settings, START, HOURS, transport=httpx.ASGITransport(create_app(world)))
    warehouse.build(settings)
    warehouse.publish(settings)
    return Rehearsed(settings, folder / "truth")


@pytest.fixture(scope="module")
def recipe(rehearsed: Rehearsed) -> Recipe:
    """Run a recipe by its name, as it stands in its file."""

    def _recipe(name: str) -> Rows:
        statement = (RECIPES / f"{name}.sql").read_text(encoding="utf-8")
        rows: Rows = warehouse.query(rehearsed.settings, statement).to_pylist()
        return rows

    return _recipe


@pytest.mark.parametrize(
    "name",
    sorted({path.stem for path in RECIPES.glob("*.sql")} - NEEDS_ANOTHER_BUILD - {"what_disruptions_cost"}),
)
def test_every_recipe_has_an_answer_and_says_what_it_asks(recipe: Recipe, name: str) -> None:
    first_line = (RECIPES / f"{name}.sql").read_text(encoding="utf-8").splitlines()[0]

    assert first_line.startswith("-- ")
    assert "?" in first_line
    assert len(recipe(name)) > 0


def test_the_hours_of_a_line_lie_between_their_bounds(recipe: Recipe) -> None:
    rows = [row for row in recipe("on_time_share_of_a_line_by_hour") if row["null_reason"] is None]

    assert {"inbound", "outbound"} == {row["direction"] for row in rows}
    assert all(row["on_time_share_low"] <= row["on_time_share_high"] for row in rows)
    assert {7} <= {row["service_hour"] for row in rows}


def test_the_worst_stops_come_first(recipe: Recipe) -> None:
    waits = [row["excess_wait_minutes"] for row in recipe("worst_stops_for_waiting")]

    assert sorted(waits, reverse=True) == waits
    assert -10 < waits[-1] < waits[0] < 30


def test_one_day_tells_nothing_about_a_new_timetable(recipe: Recipe) -> None:
    assert {"nothing to compare"} == {row["verdict"] for row in recipe("did_the_new_timetable_help")}


def test_the_countdown_is_worse_the_further_it_looks(recipe: Recipe) -> None:
    rows = [row for row in recipe("how_far_the_countdown_is_off_by_hour") if row["service_hour"] == 7]
    errors = [row["mean_absolute_error_seconds"] for row in rows]

    assert [0, 3, 6, 10] == [row["minutes_ahead_from"] for row in rows]
    assert errors[0] < errors[1]
    assert errors[0] < errors[3]


def test_delivered_service_has_a_low_and_a_high_share(recipe: Recipe) -> None:
    rows = recipe("which_lines_did_not_run")

    assert all(0 <= row["delivered_share_low"] <= row["delivered_share_high"] <= 1 for row in rows)
    assert sum(row["n_run"] for row in rows) > 0


def test_a_stretch_takes_longer_than_its_least_and_shorter_than_its_most(recipe: Recipe) -> None:
    rows = recipe("slowest_stretches")

    assert all(row["mean_low_seconds"] <= row["mean_seconds"] <= row["mean_high_seconds"] for row in rows)


def test_nothing_is_said_of_a_disruption_without_hours_to_compare_with(recipe: Recipe) -> None:
    assert [] == recipe("what_disruptions_cost")


def test_less_was_known_earlier(recipe: Recipe, rehearsed: Rehearsed) -> None:
    earlier = {row["what"]: row["n"] for row in recipe("what_was_known_at_a_moment")}
    statement = (RECIPES / "what_was_known_at_a_moment.sql").read_text(encoding="utf-8")
    later = {
        row["what"]: row["n"]
        for row in warehouse.query(
            rehearsed.settings, statement.replace("interval '2 hours'", "interval '0 hours'")
        ).to_pylist()
    }

    assert earlier["passages answered so far"] < later["passages answered so far"]
    assert later["lines"] > 0


def test_the_hours_nobody_looked_at_have_no_row_and_the_others_were_watched(recipe: Recipe) -> None:
    rows = recipe("when_nobody_was_looking")

    assert [7, 8] == [row["service_hour"] for row in rows]
    assert rows[0]["watched_share"] > 0.5


def test_the_flag_of_a_full_bus_means_that_it_is_full(rehearsed: Rehearsed) -> None:
    database = published_database(rehearsed.settings.data_dir)
    with duckdb.connect(database, read_only=True) as connection:
        rows = connection.execute(
            f"""
            select visits.is_full_share >= 0.5 as is_flagged, count(*), avg(truth.is_full::int)
            from core.stop_visits as visits
            inner join '{rehearsed.truth / "actual_passages.parquet"}' as truth
                using (service_date, trip_id, stop_code)
            where visits.is_full_share is not null
            group by all order by all
            """
        ).fetchall()
        counted = connection.execute("select sum(n_visits), sum(n_full) from marts.crowding").fetchall()
        listed = connection.execute("select count(*) from core.stop_visits where n_polls > 0").fetchall()
    shares = {is_flagged: (n_visits, share) for is_flagged, n_visits, share in rows}

    assert shares[True][0] >= 20
    assert shares[True][1] >= 0.95
    assert shares[False][1] <= 0.02
    assert [(listed[0][0], shares[True][0])] == [(int(counted[0][0]), int(counted[0][1]))]


def test_travel_times_enclose_what_buses_really_took(rehearsed: Rehearsed) -> None:
    """Of the pairs of neighbouring stops that one bus was seen at, nearly all contain the truth."""
    database = published_database(rehearsed.settings.data_dir)
    truth = rehearsed.truth / "actual_passages.parquet"
    with duckdb.connect(database, read_only=True) as connection:
        rows = connection.execute(
            f"""
            with really as (
                select line_code, direction, stop_code, trip_id, service_date, passed_at
                from '{truth}'
            )
            select
                count(*),
                avg((epoch(b.passed_at - a.passed_at) between times.low_seconds_sum - 1
                    and times.high_seconds_sum + 1)::int)
            from marts.travel_times as times
            inner join core.stop_visits as first_visit
                on first_visit.stop_code = times.from_stop_code and first_visit.line_code = times.line_code
                and first_visit.direction = times.direction and first_visit.service_hour = times.service_hour
                and first_visit.service_date = times.service_date
                and first_visit.arrival_quality in ('evidenced', 'bounded')
            inner join really as a on a.trip_id = first_visit.trip_id and a.stop_code = times.from_stop_code
                and a.service_date = times.service_date
            inner join really as b on b.trip_id = first_visit.trip_id and b.stop_code = times.to_stop_code
                and b.service_date = times.service_date and b.passed_at > a.passed_at
            where times.n_trips = 1 and times.is_adjacent
                and (select count(*) from core.stop_visits as others
                     where others.stop_code = times.from_stop_code and others.line_code = times.line_code
                       and others.direction = times.direction and others.service_hour = times.service_hour
                       and others.arrival_quality in ('evidenced', 'bounded')) = 1
            """
        ).fetchall()
    n_pairs, share_inside = rows[0]

    assert n_pairs >= 10
    assert share_inside >= 0.97
