"""Two upstreams in two time zones, one installation: each has its own allowance, one file is published."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import httpx2
import pytest

from tests.journey import Journey
from tests.small_feed import write_feed
from transit_emulator.process import emulator_process
from transit_etl.identity import kept_identity

pytestmark = [
    pytest.mark.long,
    pytest.mark.exhaustive,
    pytest.mark.timeout(600),
]
RATES = {"east": 60, "west": 30}
ZONES = {"east": "Europe/Rome", "west": "America/New_York"}
STEPS = ("stage", "build", "publish")


class Installation(NamedTuple):
    """An installation after one run of every step, and the command line of each operator in it."""

    folder: Path
    operators: dict[str, Journey]


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Collect from two upstreams at the same time, stage, build and publish."""
    folder = tmp_path_factory.mktemp("operators")
    write_feed(folder / "west.zip", ZONES["west"], "00:00:00", "24:00:00")
    with (
        emulator_process("--log", str(folder / "east.jsonl"), "--seed", "1") as east,
        emulator_process("--log", str(folder / "west.jsonl"), "--gtfs", str(folder / "west.zip")) as west,
    ):
        ports = {"east": east.port, "west": west.port}
        about = httpx2.get(f"http://127.0.0.1:{east.port}/", timeout=10).json()
        now = datetime.fromisoformat(about["suggested_now"])
        tables = (
            f'[{name}]\nbase_url = "http://127.0.0.1:{port}/api/v1/"\nrate_per_minute = {RATES[name]}\n'
            f'timezone = "{ZONES[name]}"\n'
            for name, port in ports.items()
        )
        (folder / "operators.toml").write_text("\n".join(tables))
        shared = {
            "TRANSIT_PROJECT_DIR": str(folder),
            "TRANSIT_TIMETABLE_DAYS_AHEAD": "0",
            "TRANSIT_STATUS_INTERVAL_SECONDS": "15",
            "TRANSIT_CLOCK_SHIFT_SECONDS": str((now - datetime.now(UTC)).total_seconds()),
        }
        operators = {name: Journey(folder, {**shared, "TRANSIT_OPERATOR": name}, about) for name in ports}
        for dataset in ("lines", "stops"):
            _each(operators, "collect", dataset)
            operators["east"].run("stage")
        _each(operators, "collect", "timetables")
        _each(operators, "collect", "passages", "--for", "60s")
        for step in STEPS:
            operators["east"].run(step)
        yield Installation(folder, operators)


def test_the_answers_of_each_upstream_are_of_its_operator(installation: Installation) -> None:
    found = installation.operators["west"].sql(
        "select operator, count(*)::int as n from core.requests where is_good group by all order by all"
    )

    assert {name: _answered(installation.folder, name) for name in RATES} == {
        row["operator"]: row["n"] for row in found
    }


def test_each_operator_has_an_allowance_of_its_own(installation: Installation) -> None:
    budgets = {each.run("config")["request_budget"] for each in installation.operators.values()}
    most = installation.operators["east"].sql(
        "select operator, max(n)::int as n from (select operator, count(*) over (partition by operator "
        "order by sent_at range between interval 59.9 seconds preceding and current row) as n "
        "from core.requests where sent_at is not null) group by all order by all"
    )

    assert 2 == len(budgets)
    assert all(row["n"] <= RATES[row["operator"]] for row in most)
    assert sum(row["n"] for row in most) > max(RATES.values())


def test_the_same_moment_is_of_another_service_date_west_of_the_ocean(installation: Installation) -> None:
    """At eight o'clock in Rome it is two in New York, where the service day of the date before lasts."""
    east = installation.operators["east"]
    listed = east.sql(
        "select distinct operator, service_date from read_parquet("
        f"'{installation.folder}/data/lake/*/dataset=passages/*/*.parquet', hive_partitioning = true)"
    )
    asked = east.sql("select distinct operator, service_date from core.requests order by all")
    dates = {"east": east.day, "west": east.day - timedelta(days=1)}

    for rows in (asked, listed):
        assert dates == {row["operator"]: date.fromisoformat(row["service_date"]) for row in rows}
        assert len(rows) == len(dates)


def test_the_published_file_has_the_lines_of_both_and_both_are_checked(installation: Installation) -> None:
    lines = installation.operators["east"].sql(
        "select operator, count(*)::int as n from core.latest_lines group by all order by all"
    )
    known = kept_identity(installation.folder / "data")

    assert ["east", "west"] == [row["operator"] for row in lines]
    assert all(row["n"] > 0 for row in lines)
    assert known is not None
    assert {"east", "west"} == set(known.operators)


def _each(operators: dict[str, Journey], *words: str) -> None:
    """Run a command for all operators at the same time."""
    running = [(each, each.start(*words, "--json")) for each in operators.values()]
    for each, process in running:
        each.finish(process)


def _answered(folder: Path, name: str) -> int:
    """Return how many answers an upstream gave that are of use."""
    log = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]
    return sum(each["path"].startswith("/api/") and each["status"] == 200 for each in log)
