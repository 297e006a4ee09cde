"""Marts that need whole hours of service, compared with the truth of a rehearsed lake."""

import duckdb
import pytest

from scripts.demo_findings import ANSWERS, DISRUPTIONS
from scripts.demo_truth import compare
from tests.warehouse.conftest import Rows
from tests.warehouse.rehearsed import DAY, Rehearsed
from transit_etl.paths import published_database

# Of an hour and a half no line is known for a whole date; no lift and no line need be disrupted in it.
MAY_HAVE_NO_ANSWER = {
    "Which lines and stops were least punctual?",
    "Which lift was out of use, and for how long?",
    "What disrupted the service longest?",
    "In which hours was too little polled to know?",
}


def _rows(rehearsed: Rehearsed, sql: str) -> Rows:
    """Run a query on the published warehouse and the truth, which it calls {truth}."""
    statement = sql.replace("{truth}", f"'{rehearsed.truth / 'actual_passages.parquet'}'")
    with duckdb.connect(published_database(rehearsed.settings.data_dir), read_only=True) as connection:
        rows: Rows = connection.sql(statement).to_arrow_table().to_pylist()
        return rows


def test_a_bus_flagged_as_full_is_full(rehearsed: Rehearsed) -> None:
    flags = {
        row["is_flagged"]: row
        for row in _rows(
            rehearsed,
            """
            select
                visits.is_full_share >= 0.5 as is_flagged,
                count(*) as n_visits,
                count(truth.is_full) as n_true_passages,
                avg(truth.is_full::int) as full_share
            from core.stop_visits as visits
            left join {truth} as truth using (service_date, trip_id, stop_code)
            where visits.is_full_share is not null
            group by all
            """,
        )
    }

    assert flags[True]["n_visits"] >= 20
    assert flags[True]["n_visits"] == flags[True]["n_true_passages"]
    assert flags[True]["full_share"] >= 0.95
    assert flags[False]["full_share"] <= 0.02


def test_crowding_counts_every_visit_that_was_listed_live(rehearsed: Rehearsed) -> None:
    marts = "select sum(n_visits)::bigint as n_visits, sum(n_full)::bigint as n_full from marts.crowding"
    core = """
        select count(*) as n_visits, count(*) filter (is_full_share >= 0.5) as n_full
        from core.stop_visits where n_polls > 0
    """

    assert _rows(rehearsed, core) == _rows(rehearsed, marts)


def test_the_bounds_of_a_travel_time_contain_the_true_one(rehearsed: Rehearsed) -> None:
    """Of the hours in which one bus was observed at two neighbouring stops, nearly all contain the truth."""
    found = _rows(
        rehearsed,
        """
        with first_visits as (
            -- those that are the only observed visit of their hour
            select *
            from core.stop_visits
            where arrival_quality in ('evidenced', 'bounded')
            qualify count(*) over (partition by stop_code, line_code, direction, service_hour) = 1
        ),

        true_times as (
            select
                times.low_seconds_sum,
                times.high_seconds_sum,
                epoch(later.passed_at - earlier.passed_at) as true_seconds
            from marts.travel_times as times
            inner join first_visits as visits
                on visits.service_date = times.service_date and visits.line_code = times.line_code
                and visits.direction = times.direction and visits.stop_code = times.from_stop_code
                and visits.service_hour = times.service_hour
            inner join {truth} as earlier
                on earlier.service_date = times.service_date and earlier.trip_id = visits.trip_id
                and earlier.stop_code = times.from_stop_code
            inner join {truth} as later
                on later.service_date = times.service_date and later.trip_id = visits.trip_id
                and later.stop_code = times.to_stop_code and later.passed_at > earlier.passed_at
            where times.n_trips = 1 and times.is_adjacent
        )

        select
            count(*) as n_times,
            avg((true_seconds between low_seconds_sum - 1 and high_seconds_sum + 1)::int) as share_inside
        from true_times
        """,
    )[0]

    assert found["n_times"] >= 10
    assert found["share_inside"] >= 0.97


def test_departures_said_to_run_are_those_seen_to_run_and_they_really_did(rehearsed: Rehearsed) -> None:
    figures = compare(published_database(rehearsed.settings.data_dir), rehearsed.truth, DAY, DAY)
    (outcomes,) = figures["trip_outcomes"]
    ((n_seen,),) = [
        row.values()
        for row in _rows(
            rehearsed,
            f"""
            select count(*) from core.scheduled_departures
            where outcome = 'run' and is_in_force and service_date = '{DAY}'
            """,
        )
    ]

    assert 0 < outcomes["n_run"] <= n_seen
    assert outcomes["n_scheduled"] == outcomes["n_run"] + outcomes["n_not_run"] + outcomes["n_unknown"]
    assert outcomes["n_unknown"] > 0
    assert outcomes["n_cancelled_run"] <= 0.01 * outcomes["n_run"]
    assert outcomes["n_cancelled_not_run"] == outcomes["n_not_run"]


def test_the_demonstration_shows_where_the_departures_that_did_not_run_are(rehearsed: Rehearsed) -> None:
    """Most of them are among those of which nothing is known, so that only bounds hold."""
    figures = compare(published_database(rehearsed.settings.data_dir), rehearsed.truth, DAY, DAY)
    (outcomes,) = figures["trip_outcomes"]
    network, *lines = figures["delivered"]
    n_cancelled = [outcomes[f"n_cancelled_{name}"] for name in ("run", "not_run", "unknown")]

    assert 0 < outcomes["n_cancelled_unknown"] <= outcomes["n_cancelled"] == sum(n_cancelled)
    assert 1 - outcomes["n_cancelled"] / outcomes["n_scheduled"] == pytest.approx(network["true_share"])
    assert len(lines) > 10
    assert all(row["low"] <= row["true_share"] <= row["high"] for row in (network, *lines))


def test_the_demonstration_shows_the_estimate_with_its_interval(rehearsed: Rehearsed) -> None:
    figures = compare(published_database(rehearsed.settings.data_dir), rehearsed.truth, DAY, DAY)
    cited = _rows(rehearsed, "select period, figure, low, high, reason from headline.on_time_network")

    assert cited == [
        {name: value for name, value in row.items() if name not in ("true_share", "decimals")}
        for row in figures["on_time"]
    ]
    assert [True] == [0 < row["true_share"] < 1 for row in figures["on_time"]]


def test_the_bounds_of_each_lift_hold_the_time_in_which_it_was_out_of_use(rehearsed: Rehearsed) -> None:
    lifts = compare(published_database(rehearsed.settings.data_dir), rehearsed.truth, DAY, DAY)["lifts"]

    assert lifts
    assert [] == [row for row in lifts if not row["low"] - 1 <= row["true_seconds"] <= row["high"] + 1]


@pytest.mark.parametrize("question", ANSWERS)
def test_every_question_of_the_demonstration_is_answered_in_sentences(
    rehearsed: Rehearsed, question: str
) -> None:
    answers = [row["sentence"] for row in _rows(rehearsed, ANSWERS[question])]

    assert all(answer and answer.endswith(".") for answer in answers)
    assert answers or question in MAY_HAVE_NO_ANSWER


def test_the_demonstration_names_disruptions_by_what_they_are(rehearsed: Rehearsed) -> None:
    listed = _rows(rehearsed, DISRUPTIONS)

    assert listed
    assert {"GEV", "DEV", "ASC"}.isdisjoint(row["what"] for row in listed)
