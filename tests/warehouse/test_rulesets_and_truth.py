"""Punctuality by the rulesets of authorities, compared with the truth of a rehearsed lake."""

from collections.abc import Callable
from typing import Any

import duckdb

from tests.warehouse.conftest import Rows
from tests.warehouse.rehearsed import Rehearsed
from transit_etl.paths import published_database

HOUR = 7  # the hour that was rehearsed whole

JUDGED = """
    with calls as (
        select
            scheduled.*,
            epoch(actual.passed_at) - epoch(scheduled.scheduled_at) as delay_seconds,
            hour(scheduled.scheduled_at + interval 1 hour) as service_hour,
            scheduled.stop_sequence = min(scheduled.stop_sequence) over trip as is_first,
            scheduled.stop_sequence = max(scheduled.stop_sequence) over trip as is_last,
            count(*) over (
                partition by line_code, direction, stop_code, hour(scheduled.scheduled_at)
            ) as n_buses
        from '{truth}/scheduled_passages.parquet' as scheduled
        join '{truth}/actual_passages.parquet' as actual
            using (service_date, trip_id, line_code, direction, stop_code, stop_sequence)
        join '{truth}/trips.parquet' as trips using (service_date, trip_id, line_code, direction)
        where not trips.is_added
        window trip as (partition by service_date, trip_id)
    )
    select
        ruleset,
        count(*) as n,
        avg((
            delay_seconds between coalesce(early_seconds, case when is_in_force then -60 else -86400 end)
                and coalesce(late_seconds, 359)
        )::int) as share
    from calls
    join core.authority_rulesets as rulesets on (is_in_force or late_seconds is not null)
        and service_hour between coalesce(from_hour, 0) and coalesce(to_hour - 1, 99)
        and n_buses < coalesce(frequent_per_hour, 1000)
        and not (event is not distinct from 'departure' and is_last)
        and not (event is not distinct from 'arrival' and is_first)
        and case stop_scope
            when 'all' then true
            when 'origin' then is_first
            when 'terminus' then is_last
            else (stop_scope, stop_code, line_code, direction) in (
                select (stop_scope, stop_code, line_code, direction) from '{judged_stops}'
            )
        end
    where service_hour = {hour}
    group by ruleset
"""
ESTIMATED = """
    select
        ruleset,
        sum(n_due) as n,
        sum(expected_on_time) / sum(n_due) as share,
        1.96 * sqrt(sum(on_time_variance) + power(sum(common_error), 2)) / sum(n_due) as half_interval
    from marts.punctuality_by_ruleset
    where service_hour = {hour}
    group by ruleset
    having sum(n_due) > 0
"""


def _rows(rehearsed: Rehearsed, sql: str) -> dict[str, dict[str, Any]]:
    """Run a query on the published warehouse and the truth; return its rows by ruleset."""
    statement = sql.format(
        truth=rehearsed.truth, judged_stops=rehearsed.settings.judged_stops_file, hour=HOUR
    )
    with duckdb.connect(published_database(rehearsed.settings.data_dir), read_only=True) as connection:
        rows = connection.sql(statement).to_arrow_table().to_pylist()
        return {row.pop("ruleset"): row for row in rows}


def test_the_interval_of_every_ruleset_contains_the_true_share_of_what_it_judges(
    rehearsed: Rehearsed,
) -> None:
    estimated, true = _rows(rehearsed, ESTIMATED), _rows(rehearsed, JUDGED)

    assert {
        "default", "uk_dft", "uk_traffic_commissioner", "tfl", "ch_qms_rpv", "it_contract_5min",
        "origin_5min",
    } == set(estimated) == set(true)  # fmt: skip
    assert {} == {
        ruleset: (float(row["share"]), float(row["half_interval"]), true[ruleset]["share"])
        for ruleset, row in estimated.items()
        if abs(float(row["share"]) - true[ruleset]["share"]) > float(row["half_interval"])
    }
    assert all(0.9 < float(row["n"]) / true[ruleset]["n"] < 1.1 for ruleset, row in estimated.items())


def test_rulesets_differ_in_what_they_judge_and_what_they_find(rehearsed: Rehearsed) -> None:
    rows = _rows(rehearsed, ESTIMATED)

    assert rows["ch_qms_rpv"]["share"] < rows["default"]["share"]
    assert rows["origin_5min"]["n"] < rows["uk_dft"]["n"] < rows["default"]["n"]


def test_frequent_service_is_judged_by_its_excess_wait(rehearsed: Rehearsed) -> None:
    rows = _rows(
        rehearsed,
        """
        select ruleset, n_frequent, wait_null_reason, n_headways, n_gaps
        from marts.network_punctuality_by_ruleset_period
        where ruleset in ('uk_dft', 'tfl', 'default') and n_due > 0
        """,
    )

    assert "not judged by waits" == rows["default"]["wait_null_reason"]
    assert rows["uk_dft"]["n_frequent"] > rows["tfl"]["n_frequent"] > 0
    assert rows["tfl"]["n_headways"] > rows["tfl"]["n_gaps"] >= 0
    assert 0 == rows["uk_dft"]["n_headways"]  # it judges no gaps


def test_without_a_reference_file_rulesets_of_named_stops_say_that_none_is_named(
    ask: Callable[[str], Rows],
) -> None:
    rows = ask(
        "select distinct ruleset, null_reason from marts.network_punctuality_by_ruleset_period "
        "where stop_scope in ('timing_points', 'rated_stops') or not is_confirmed and judged = 'passages' "
        "and stop_scope = 'all' order by ruleset"
    )

    assert [
        {"ruleset": "ch_qms_rpv", "null_reason": "no rated stops named"},
        {"ruleset": "it_art_53_2024", "null_reason": "thresholds unknown"},
        {"ruleset": "tfl", "null_reason": "no timing points named"},
        {"ruleset": "uk_traffic_commissioner", "null_reason": "no timing points named"},
    ] == rows


def test_every_ruleset_names_its_source(ask: Callable[[str], Rows]) -> None:
    assert [] == ask("select ruleset from core.authority_rulesets where source is null or note is null")
