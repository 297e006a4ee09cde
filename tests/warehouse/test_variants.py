"""What is built next to the first: another ruleset, and the data as it stood at another moment."""

import shutil
from datetime import UTC, datetime

import duckdb
import pytest

from tests.warehouse.lakes import TUESDAY
from transit_etl import paths, warehouse
from transit_etl.settings import Settings
from transit_etl.warehouse import Variant

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]

STRICTER = Variant(ruleset=2)
MORNING = Variant(as_of=datetime(2026, 11, 10, 7, 0, 50, tzinfo=UTC))


@pytest.fixture(scope="module")
def variants(built: Settings, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """Give a copy of the stories with both variants built and published."""
    data_dir = tmp_path_factory.mktemp("variants") / "data"
    shutil.copytree(built.data_dir, data_dir)
    settings = built.model_copy(update={"data_dir": data_dir})
    warehouse.build(settings)
    for variant in (STRICTER, MORNING):
        warehouse.build_variant(settings, variant, first_date=TUESDAY, last_date=TUESDAY)
    warehouse.publish(settings)
    return settings


def test_a_second_ruleset_judges_the_same_visits_next_to_the_first(variants: Settings) -> None:
    rows = warehouse.query(
        variants,
        """
        select first_one.ruleset_version, second_one.ruleset_version as other_version, count(*) as n,
            count(case when second_one.punctuality = case
                when second_one.scheduled_at is null then 'unscheduled'
                when second_one.delay_high_seconds < -60 then 'early'
                when second_one.delay_low_seconds > 299 then 'late'
                when second_one.delay_low_seconds >= -60
                    and second_one.delay_high_seconds <= 299 then 'on_time'
                else 'indeterminate' end then 1 end) as n_by_its_thresholds
        from core.stop_visits as first_one
        inner join core_ruleset_2.stop_visits as second_one
            using (operator, service_date, trip_id, stop_code, visit_number)
        group by all
        """,
    ).to_pylist()
    n = warehouse.query(variants, "select count(*) as n from core.stop_visits").to_pylist()[0]["n"]

    assert [{"ruleset_version": 1, "other_version": 2, "n": n, "n_by_its_thresholds": n}] == rows


def test_as_of_a_moment_nothing_later_is_known(variants: Settings) -> None:
    schema = f"core{MORNING.suffix}"
    query = f"select passed_before, arrival_quality from {schema}.stop_visits where trip_id = 'PLAIN'"
    then = warehouse.query(variants, query).to_pylist()
    now = warehouse.query(variants, query.replace(schema, "core")).to_pylist()
    latest = warehouse.query(variants, f"select max(received_at) as at from {schema}.requests").to_pylist()

    assert [] == [row for row in then if row["passed_before"] is not None]
    assert ["evidenced"] == [row["arrival_quality"] for row in now]
    assert latest[0]["at"] <= datetime(2026, 11, 10, 7, 0, 50)  # noqa: DTZ001 - UTC, without a zone mark


def test_an_unknown_ruleset_says_which_there_are(variants: Settings) -> None:
    with pytest.raises(warehouse.WarehouseError, match=r"no ruleset 7.*\[1, 2\]"):
        warehouse.build_variant(variants, Variant(ruleset=7))


def test_a_date_nobody_built_cannot_be_built_as_a_variant(variants: Settings) -> None:
    with pytest.raises(warehouse.WarehouseError, match="none of the service dates"):
        warehouse.build_variant(
            variants,
            STRICTER,
            first_date=TUESDAY.replace(year=2020),
            last_date=TUESDAY.replace(year=2020),
        )


def test_what_was_left_half_built_next_to_the_first_is_never_published(variants: Settings) -> None:
    with duckdb.connect(paths.build_database(variants.data_dir)) as connection:
        connection.execute("update quality.variants set outcome = 'running' where ruleset_version = 2")
    warehouse.publish(variants)
    schemas = warehouse.query(
        variants,
        "select distinct schema_name as name from duckdb_tables() where schema_name like '%ruleset%'",
    ).to_pylist()

    assert [] == schemas


def test_a_report_counts_the_dates_built_for_a_variant(variants: Settings) -> None:
    report = warehouse.build_variant(variants, STRICTER, first_date=TUESDAY, last_date=TUESDAY)

    assert (1, TUESDAY, TUESDAY) == (report.n_dates, report.first_date, report.last_date)
    assert report.n_models > 20
