"""Every recipe is run: on a rehearsed lake, or on hand-made tables where an hour tells too little."""

import re
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from tests.warehouse.conftest import Rows
from tests.warehouse.rehearsed import DAY, HOURS, START, Rehearsed
from transit_base.installed import part_of_project
from transit_etl import warehouse
from transit_etl.cli.recipe import OPTIONS, recipes
from transit_etl.paths import published_database

RECIPES = recipes()
ON_HAND_MADE_TABLES = {"what_disruptions_cost"}
OF_SEVERAL_DATES = {"what_disruptions_cost", "what_was_known_at_a_moment"}
Recipe = Callable[[str], Rows]


@pytest.fixture(scope="module")
def recipe(rehearsed: Rehearsed) -> Recipe:
    """Run a recipe by its name, as it stands in its file."""

    def _recipe(name: str) -> Rows:
        rows: Rows = warehouse.query(rehearsed.settings, RECIPES[name]).to_pylist()
        return rows

    return _recipe


def _run_on(tables: str, name: str) -> Rows:
    """Run a recipe on what some SQL makes in an empty database: tables, and the variables that it reads."""
    with duckdb.connect() as connection:
        connection.execute(tables)
        rows: Rows = connection.sql(RECIPES[name]).to_arrow_table().to_pylist()
        return rows


@pytest.fixture(scope="module")
def in_progress(rehearsed: Rehearsed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the published file as it is before the end of its only date."""
    path = tmp_path_factory.mktemp("in_progress") / "warehouse.duckdb"
    shutil.copy(published_database(rehearsed.settings.data_dir), path)
    with duckdb.connect(path) as connection:
        connection.execute("update quality.operators set closed_date = $day::date - 1", {"day": DAY})
    return path


@pytest.mark.parametrize("name", sorted(set(RECIPES) - OF_SEVERAL_DATES - {"compare_two_rulesets"}))
def test_a_recipe_counts_no_date_that_is_not_over(in_progress: Path, name: str) -> None:
    with duckdb.connect(in_progress, read_only=True) as connection:
        connection.execute("set search_path = 'main,core,marts,quality,headline'")

        assert [] == connection.execute(RECIPES[name]).fetchall()


@pytest.fixture(scope="module")
def beside_another(rehearsed: Rehearsed, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy the published file, with dates of another operator that are over, later than all others."""
    path = tmp_path_factory.mktemp("beside_another") / "warehouse.duckdb"
    shutil.copy(published_database(rehearsed.settings.data_dir), path)
    with duckdb.connect(path) as connection:
        connection.execute(
            """
            create table core.dates_of_one as from core.closed_dates;
            create or replace view core.closed_dates as
            from core.dates_of_one
            union all
            select 'other' as operator, service_date + 61 as service_date,
                (month_starts_date + interval 2 month)::date as month_starts_date, month_period
            from core.dates_of_one
            """
        )
    return path


@pytest.mark.parametrize("name", sorted(set(RECIPES) - ON_HAND_MADE_TABLES))
def test_the_dates_of_an_operator_change_no_answer_about_another(
    beside_another: Path, recipe: Recipe, name: str
) -> None:
    with duckdb.connect(beside_another, read_only=True) as connection:
        connection.execute("set timezone = 'UTC'; set search_path = 'main,core,marts,quality,headline'")
        rows = connection.sql(RECIPES[name]).to_arrow_table().to_pylist()

    assert recipe(name) == rows


def test_each_variable_of_a_recipe_is_an_option_of_the_command() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (part_of_project("sql") / "analyses").glob("*.sql")]
    read = {name for text in texts for name in re.findall(r"getvariable\('(\w+)'\)", text)}

    assert sorted(RECIPES.values()) == sorted(texts)
    assert set(OPTIONS) == read


@pytest.mark.parametrize("name", sorted(RECIPES))
def test_a_recipe_begins_with_the_question_it_answers(name: str) -> None:
    first_line = RECIPES[name].splitlines()[0]

    assert first_line.startswith("-- ")
    assert "?" in first_line


@pytest.mark.parametrize("name", sorted(set(RECIPES) - ON_HAND_MADE_TABLES))
def test_a_recipe_has_an_answer_on_a_rehearsed_hour_and_names_its_operator_first(
    recipe: Recipe, name: str
) -> None:
    assert {"operator"} == {next(iter(row)) for row in recipe(name)}


def test_the_on_time_share_of_an_hour_lies_between_its_bounds(recipe: Recipe) -> None:
    rows = [row for row in recipe("on_time_share_of_a_line_by_hour") if row["null_reason"] is None]

    assert {"inbound", "outbound"} == {row["direction"] for row in rows}
    assert 7 in {row["service_hour"] for row in rows}
    assert all(
        0 <= row["on_time_share_low"] <= row["on_time_share"] <= row["on_time_share_high"] <= 1
        for row in rows
    )
    estimates = [
        (
            row["estimated_on_time_share_low"],
            row["estimated_on_time_share"],
            row["estimated_on_time_share_high"],
        )
        for row in recipe("on_time_share_of_a_line_by_hour")
        if row["estimated_on_time_share"] is not None
    ]
    assert len(estimates) >= 1
    assert all(0 <= low <= share <= high <= 1 for low, share, high in estimates)


def test_stops_are_listed_by_excess_wait_the_longest_first(recipe: Recipe) -> None:
    rows = [row for row in recipe("worst_stops_for_waiting") if row["null_reason"] is None]
    waits = [row["excess_wait_minutes"] for row in rows]

    assert sorted(waits, reverse=True) == waits
    assert -10 < waits[-1] < waits[0] < 30
    assert all(
        abs(row["actual_wait_minutes"] - row["scheduled_wait_minutes"] - row["excess_wait_minutes"]) <= 0.02
        for row in rows
    )
    # an error of 5 s may be common to all estimates, whatever chance does
    assert all(
        row["excess_wait_minutes_high"] - row["excess_wait_minutes_low"] > 2 * 1.96 * 5 / 60 - 0.011
        for row in rows
    )


def test_a_single_date_cannot_show_what_a_new_timetable_did(recipe: Recipe) -> None:
    assert {"nothing to compare"} == {row["verdict"] for row in recipe("did_the_new_timetable_help")}


def test_a_new_timetable_helped_only_where_dates_and_estimates_are_sure_of_it() -> None:
    """Each line is seen on time more often after the change, and so seems better by the visits seen."""
    rows = _run_on(
        """
        create schema core;
        create schema marts;
        create table marts.punctuality as
        with lines(line_code, n_dates, n_due, before, after, spread, variance, n_seen) as (values
            ('better', 10, 50, 0.60, 0.90, 0.02, 0.5, 40),
            ('by_chance', 10, 50, 0.70, 0.75, 0.20, 0.5, 40),
            ('one_visit', 1, 1, 0.0, 1.0, 0.0, 0.0, 1),
            ('hardly_seen', 10, 50, 0.50, 0.70, 0.00, 300, 1),
            ('only_seen_better', 10, 50, 0.80, 0.60, 0.02, 0.5, 5),
            ('new', 10, 50, null, 0.70, 0.02, 0.5, 40)
        ),
        days as (
            select *, case when date '2026-11-16' > service_date then before else after end
                + case when day % 2 = 0 then spread else -spread end as share
            from lines, range(-14, 14) as numbers(day), (select date '2026-11-16' as changed_date),
                lateral (select changed_date + day::integer as service_date)
            where isodow(service_date) <= 5 and (n_dates > 1 or day in (-1 - 2, 0))
        )
        select 'o' as operator, line_code, 'outbound' as direction, service_date, n_due, 0 as n_expected,
            share * n_due as expected_on_time, variance as on_time_variance, 0.0 as common_error,
            n_seen as n_scheduled, case when service_date >= changed_date then n_seen else 0 end as n_on_time
        from days where share is not null;
        create table core.closed_dates as select distinct operator, service_date from marts.punctuality;
        set variable from_date = date '2026-11-16'
        """,
        "did_the_new_timetable_help",
    )

    assert {
        "better": "better",
        "by_chance": "cannot be told apart",
        "hardly_seen": "cannot be told apart",
        "new": "nothing to compare",
        "one_visit": "too few dates",
        "only_seen_better": "worse",
    } == {row["line_code"]: row["verdict"] for row in rows}


def test_a_month_is_the_sum_of_its_days_and_not_their_mean(rehearsed: Rehearsed, tmp_path: Path) -> None:
    """The mean of the shares of line `busy` would be 0.5; `vague` is hardly known, `unseen` not at all."""
    path = shutil.copy(published_database(rehearsed.settings.data_dir), tmp_path)
    with duckdb.connect(path) as connection:
        connection.execute(
            """
            update core.rulesets set widest_interval = 0.5, date_correlation = 0.25;
            create or replace view core.closed_dates as
            select 'o' as operator, date '2026-11-01' as month_starts_date, date '2026-11-11' as service_date;
            delete from marts.punctuality;
            insert into marts.punctuality by name
            select 'o' as operator, 'outbound' as direction, line_code, service_date, n_due, 1 as n_visits,
                0 as n_unobserved, n_expected, 0 as expected_early, expected_on_time,
                n_due - expected_on_time as expected_late, 60 * n_due as expected_delay_seconds_sum,
                on_time_variance, common_error, 1 as ruleset_version
            from (values
                ('busy', date '2026-11-10', 90, 0, 81, 9, 1.5), ('busy', date '2026-11-11', 10, 0, 1, 3, 0.5),
                ('busy', date '2026-10-11', 900, 0, 0, 0, 0), ('unseen', date '2026-11-11', 10, 10, 5, 0, 0),
                ('vague', date '2026-11-11', 10, 0, 5, 16, 1), (null, date '2026-11-11', 10, 0, 5, 1, 1)
            ) as days(
                line_code, service_date, n_due, n_expected, expected_on_time, on_time_variance, common_error
            )
            """
        )
        found = connection.sql(RECIPES["punctuality_of_lines_in_a_month"])
        busy, unseen, vague = found.to_arrow_table().to_pylist()

    assert ("busy", 2, 100, 0.82) == tuple(
        busy[name] for name in ("line_code", "n_dates", "n_due", "on_time_share")
    )
    assert [0.735, 0.905] == [
        busy["on_time_share_low"],
        busy["on_time_share_high"],
    ]  # 1.96 * sqrt(12 * 1.25 + 2 ** 2): errors of the two dates are alike
    assert (None, "interval too wide") == (vague["on_time_share"], vague["null_reason"])
    assert (None, "nothing observed") == (unseen["on_time_share"], unseen["null_reason"])


def test_a_prediction_is_worse_the_further_it_looks_ahead(recipe: Recipe) -> None:
    rows = [row for row in recipe("prediction_error_by_hour") if row["service_hour"] == 7]
    errors = [row["mean_absolute_error_seconds"] for row in rows]

    assert [0, 3, 6, 10] == [row["minutes_ahead_from"] for row in rows]
    assert errors[0] < errors[1]
    assert errors[0] < errors[3]


def test_a_share_of_predictions_lies_within_its_interval_or_has_a_reason(recipe: Recipe) -> None:
    rows = recipe("prediction_error_by_hour")
    given = [row for row in rows if row["null_reason"] is None]

    assert all(
        0 <= row["within_band_share_low"] <= row["within_band_share"] <= row["within_band_share_high"] <= 1
        for row in given
    )
    assert all(row["within_band_share"] is None for row in rows if row not in given)
    assert len(given) > 0


def test_the_delivered_share_lies_between_what_ran_and_what_was_not_seen_missing(recipe: Recipe) -> None:
    rows = recipe("which_lines_did_not_run")

    assert all(0 <= row["delivered_share_low"] <= row["delivered_share_high"] <= 1 for row in rows)
    assert sum(row["delivered_share_low"] for row in rows) > 0


def test_departures_add_up_by_what_became_of_them(recipe: Recipe) -> None:
    rows = recipe("what_was_scheduled_and_what_ran")
    outcomes = ("n_withdrawn", "n_run", "n_not_run", "n_unclear")

    assert all(row["n_scheduled"] == sum(row[outcome] for outcome in outcomes) for row in rows)
    assert sum(row["n_run"] for row in rows) > 0


def test_a_loss_of_time_lies_within_its_interval_or_has_a_reason_and_the_greatest_comes_first(
    recipe: Recipe,
) -> None:
    rows = recipe("where_buses_lose_time")
    given = [row for row in rows if row["null_reason"] is None]
    losses = [row["mean_loss_seconds"] for row in given]

    assert all(
        row["mean_loss_seconds_low"] <= row["mean_loss_seconds"] <= row["mean_loss_seconds_high"]
        for row in given
    )
    assert all(row["mean_seconds"] is None for row in rows if row not in given)
    assert given == rows[: len(given)]
    assert sorted(losses, reverse=True) == losses
    assert len(rows) > 0


def test_a_share_of_bunched_headways_or_gaps_lies_within_its_interval_or_has_a_reason(recipe: Recipe) -> None:
    rows = recipe("where_buses_bunch")

    for name, reason in (("bunched_share", "bunched_null_reason"), ("gap_share", "gaps_null_reason")):
        given = [row for row in rows if row[reason] is None]
        assert all(0 <= row[f"{name}_low"] <= row[name] <= row[f"{name}_high"] <= 1 for row in given)
        assert all(row[name] is None for row in rows if row not in given)
        assert sum(row[name] for row in given) > 0


def test_the_share_of_full_buses_lies_between_its_bounds_and_the_fullest_come_first(recipe: Recipe) -> None:
    rows = recipe("where_buses_are_full")
    shares = [row["full_share"] for row in rows]

    assert all(0 <= row["full_share_low"] <= row["full_share"] <= row["full_share_high"] <= 1 for row in rows)
    assert sorted(shares, reverse=True) == shares
    assert shares[0] > 0


def test_the_availability_of_a_lift_lies_between_its_bounds(recipe: Recipe) -> None:
    rows = recipe("lifts_out_of_use")

    assert all(0 <= row["availability_low"] <= row["availability_high"] <= 1 for row in rows)
    assert all(row["availability_low"] < 1 for row in rows)  # a lift that was always usable is not known of


def test_every_disruption_is_shown_with_its_effect_or_why_it_cannot_be_told() -> None:
    """Of the episodes with a figure the mean would be -0.17, as if the other one had cost nothing.

    One that is open has no end, and one that began on a date that is not over does not count.
    """
    rows = _run_on(
        """
        create schema marts;
        create schema quality;
        create table quality.operators as select 'o' as operator, date '2026-11-10' as closed_date;
        create table marts.disruptions as
        select
            'o' as operator, episode_id, 'diversion' as event_meaning, 'works' as cause,
            episode_id = 'unknown' as is_open
        from (values ('mild'), ('severe'), ('unknown'), ('later')) as episodes(episode_id);
        create table marts.disruption_impact as
        select
            'o' as operator, episode_id, '018-00' as line_code,
            timestamp '2026-11-10 08:00' + (episode_id = 'later')::int * interval 1 day as from_at,
            timestamp '2026-11-11 09:00' as to_at, 10 as n_hours_compared,
            'on_time_share' as metric, 0.5 as during_value,
            0.5 - impact as expected_value, impact, impact - 0.2 as impact_low,
            impact + 0.2 as impact_high, case when impact is null then 'no hour covered' end as null_reason
        from (values ('mild', -0.12345), ('severe', -0.4), ('unknown', null), ('later', -0.5))
            as impacts(episode_id, impact)
        """,
        "what_disruptions_cost",
    )

    assert [
        (-0.4, -0.6, -0.2, "worse"),
        (-0.123, -0.323, 0.077, "no effect shown"),
        (None, None, None, "no hour covered"),
    ] == [
        (
            *(row[name] and float(row[name]) for name in ("impact", "impact_low", "impact_high")),
            row["verdict"],
        )
        for row in rows
    ]
    assert [False, False, True] == [row["to_at"] is None for row in rows]


def test_two_rulesets_are_compared_line_by_line_in_the_latest_month() -> None:
    rows = _run_on(
        """
        create schema marts;
        create table marts.punctuality_by_ruleset_period as
        select
            'o' as operator, month as period_starts_date, ruleset, line_code, 'outbound' as direction,
            10 as n_due, share as estimated_on_time_share, share - 0.1 as estimated_on_time_share_low,
            share + 0.1 as estimated_on_time_share_high,
            case when share is null then 'interval too wide' end as null_reason
        from (values
            (date '2026-11-01', 'default', 'near', 0.8), (date '2026-11-01', 'origin_5min', 'near', 0.75),
            (date '2026-11-01', 'default', 'far', 0.7), (date '2026-11-01', 'origin_5min', 'far', 0.95),
            (date '2026-11-01', 'default', 'vague', 0.7), (date '2026-11-01', 'origin_5min', 'vague', null),
            (date '2026-11-01', 'uk_dft', 'near', 0.1), (date '2026-10-01', 'default', 'near', 0.1),
            (date '2026-10-01', 'origin_5min', 'near', 0.1)
        ) as months(month, ruleset, line_code, share)
        """,
        "compare_two_rulesets",
    )

    assert [
        ("far", 0.7, 0.95, 0.25, None),
        ("near", 0.8, 0.75, -0.05, None),
        ("vague", 0.7, None, None, "interval too wide"),
    ] == [
        (
            row["line_code"],
            *(
                row[name] and float(row[name])
                for name in ("on_time_share", "other_on_time_share", "difference")
            ),
            row["other_null_reason"],
        )
        for row in rows
    ]


def test_less_was_known_earlier(recipe: Recipe, rehearsed: Rehearsed) -> None:
    earlier = {row["what"]: row["n"] for row in recipe("what_was_known_at_a_moment")}
    asked = {"moment": START + timedelta(hours=HOURS)}
    rows = warehouse.query(rehearsed.settings, RECIPES["what_was_known_at_a_moment"], asked).to_pylist()
    later = {row["what"]: row["n"] for row in rows}

    assert set(earlier) == set(later)
    assert earlier["visits seen so far"] < later["visits seen so far"]
    assert later["lines"] > 0


def test_hours_are_covered_where_stops_were_polled(recipe: Recipe) -> None:
    rows = {row["service_hour"]: row for row in recipe("hours_without_coverage")}

    assert all(row["n_good"] <= row["n_sent"] <= row["n_planned"] for row in rows.values())
    assert 0.3 < rows[7]["covered_share"] <= 1
    assert {0} == {rows[hour]["covered_share"] for hour in rows if hour < 7}


def test_hours_and_dates_on_which_nobody_looked_are_shown() -> None:
    rows = _run_on(
        """
        create schema core;
        create schema marts;
        create table core.closed_dates as select 'o' as operator, date '2026-11-11' as service_date;
        create table core.scheduled_departures as
        select 'o' as operator, service_date, hour as service_hour, true as is_in_force,
            service_date + hour * interval '1 hour' as departure_at
        from (values
            (date '2026-11-10', 8), (date '2026-11-10', 9), (date '2026-11-11', 9), (date '2026-11-12', 9)
        ) as departures(service_date, hour);
        create table marts.coverage as
        select 'o' as operator, date '2026-11-10' as service_date, *
        from (values
            (8, 's', 1, 6, 6, 6, 3600, 600), (9, 's', 2, 0, 0, 0, 0, 3600), (9, 't', 3, 0, 0, 0, 0, 3600)
        ) as hours(service_hour, stop_code, n_due, planned, sent, good, covered_seconds, longest_gap_seconds)
        """,
        "hours_without_coverage",
    )
    shown = ("service_hour", "n_departures", "n_due_at_stops_not_polled", "n_stops_polled", "covered_share")

    assert [(10, 8, 1, 0, 1, 1.0), (10, 9, 1, 5, 0, 0.0), (11, 9, 1, None, 0, 0.0)] == [
        (row["service_date"].day, *(row[name] for name in shown)) for row in rows
    ]
