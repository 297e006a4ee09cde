"""The units for a single host: valid, and their commands stage, build and publish, also after restarts."""

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.collect.postgresql import PostgreSql, running_postgresql
from tests.deploy.airflow import LONGEST_SECONDS, PASSWORDS, Airflow, replacements
from tests.deploy.units import KEPT_RUNNING, SERVICES, UNITS, Machine, service
from transit_emulator.process import emulator_process, free_port
from transit_etl.paths import lake_files, raw_dir, raw_files
from transit_etl.rehearsal import rehearse
from transit_etl.settings import PREFIX, Settings
from transit_etl.warehouse import NotPublishedError, query

ANALYZE = shutil.which("systemd-analyze")
BEGIN = datetime(2026, 11, 18, 6, tzinfo=UTC)  # a Wednesday, seven o'clock local time
HOURS = 2
END = BEGIN + timedelta(hours=HOURS)  # the host's clock shows it when the units start
_OF_THE_TWO_HOURS = (
    "select endpoint, outcome, count(*) from {} where received_at < $end group by all order by all"
)


@dataclass(frozen=True, slots=True)
class Host:
    """A machine with its PostgreSQL and its Airflow, and what its units write."""

    machine: Machine
    database: PostgreSql
    airflow: Airflow
    settings: Settings
    received: list[Any]

    def published(self, sql: str) -> list[dict[str, Any]]:
        """Query the published warehouse; no row before there is one."""
        try:
            return query(self.settings, sql).to_pylist()
        except NotPublishedError:
            return []

    def newest_published(self) -> datetime:
        """Return when the newest good answer in the published warehouse was received."""
        sql = (
            "select max(received_at) as at from core.requests where endpoint = 'passages' and outcome = 'ok'"
        )
        found = [row["at"].replace(tzinfo=UTC) for row in self.published(sql) if row["at"]]
        return max(found, default=BEGIN)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """Yield a machine whose raw folder holds the two hours before the units start, and nothing else."""
    port = free_port()
    with running_postgresql() as database, emulator_process() as emulator:
        before = Settings(
            data_dir=tmp_path / "before", base_url=emulator.base_url, operator="example", window_seconds=600
        )
        rehearse(before, BEGIN, HOURS)
        shift = (END - datetime.now(UTC)).total_seconds()
        machine = Machine(
            tmp_path,
            {
                **replacements(database, port, emulator.base_url),
                "TRANSIT_ALERT_URLS=": f"TRANSIT_WINDOW_SECONDS=60\nTRANSIT_CLOCK_SHIFT_SECONDS={shift}",
            },
        )
        shutil.copytree(raw_dir(before.data_dir), raw_dir(tmp_path / "var/data"))
        (tmp_path / "var/airflow/passwords.json").write_text(PASSWORDS)
        airflow = Airflow(f"http://localhost:{port}", KEPT_RUNNING, machine.start, machine.stack.log)
        settings = before.model_copy(update={"data_dir": tmp_path / "var/data", "clock_shift_seconds": shift})
        try:
            yield Host(machine, database, airflow, settings, _received(before))
        finally:
            machine.stack.stop()


@pytest.mark.long
@pytest.mark.exhaustive
@pytest.mark.timeout(4 * LONGEST_SECONDS)
def test_a_host_publishes_every_answer_of_two_hours_and_of_its_own_also_after_restarts(
    host: Host, tmp_path: Path
) -> None:
    airflow = host.airflow
    host.machine.run("transit-etl-setup")
    airflow.wait_until(airflow.is_healthy)
    assert airflow.login("not the password").is_client_error

    # The two hours are being staged and built now.
    airflow.wait_until(lambda: "success" in airflow.states("network"))
    host.database.restart()
    for process in airflow.running["transit-etl-scheduler"].processes():
        process.terminate()
    restarted_at = host.settings.clock.now()
    airflow.wait_until(lambda: host.newest_published() > restarted_at)
    airflow.wait_until(airflow.is_healthy)

    [nightly, exports] = [(dag, airflow.trigger(dag)) for dag in ("nightly", "exports")]
    airflow.wait_until(lambda: airflow.has_succeeded(*nightly) and airflow.has_succeeded(*exports))

    of_the_two_hours = _OF_THE_TWO_HOURS.format("core.requests").replace("$end", f"timestamp '{END:%F %T}'")
    # Each endpoint is staged by itself, and not all of them are before the restarts.
    airflow.wait_until(
        lambda: host.received == [tuple(row.values()) for row in host.published(of_the_two_hours)]
    )
    assert host.published("select 1 as one from marts.punctuality_shares where on_time_share is not null")
    assert not [each for each in airflow.states("warehouse") if each == "failed"]
    assert (tmp_path / "var/metrics/transit.prom").exists()
    host.machine.run("transit-etl-backup")
    host.machine.run("transit-etl-cleanup")
    assert _names(host.settings.data_dir) <= _names(tmp_path / "backup")


def _received(settings: Settings) -> list[Any]:
    """Count the requests of a lake by endpoint and outcome."""
    with duckdb.connect() as connection:
        paths = [str(path) for path in lake_files(settings.data_dir, "requests", settings.operator)]
        connection.read_parquet(paths, union_by_name=True).create_view("requests")
        return connection.execute(
            _OF_THE_TWO_HOURS.format("requests"), {"end": END.replace(tzinfo=None)}
        ).fetchall()


def _names(folder: Path) -> set[str]:
    """Return the names of the raw files of the two hours below a folder."""
    return {path.name for path in raw_files(folder) if path.name < f"{END:%Y%m%dT%H%M%S}"}


@pytest.mark.skipif(ANALYZE is None, reason="no systemd here")
@pytest.mark.parametrize("path", sorted(UNITS.glob("transit-etl*")), ids=lambda path: path.name)
def test_systemd_finds_nothing_wrong_with_a_unit(path: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path, {})
    for each in UNITS.glob("transit-etl*"):
        (tmp_path / each.name).write_text(machine.placed(each.read_text()))
    done = subprocess.run(
        [ANALYZE or "", "verify", "--man=no", str(tmp_path / path.name)],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    ours = [line for line in done.stderr.splitlines() if "transit-etl" in line]

    assert [] == ours


@pytest.mark.parametrize("name", SERVICES)
def test_a_unit_runs_as_a_user_who_may_write_only_its_data(name: str) -> None:
    lines = service(name)

    assert {("User", "transit"), ("NoNewPrivileges", "yes"), ("ProtectSystem", "strict")} <= set(lines)
    assert not [value for key, value in lines if key == "Environment" and "TOKEN" in value]


def test_every_setting_in_the_example_exists() -> None:
    lines = (UNITS / "transit.env").read_text(encoding="utf-8").splitlines()
    names = [line.partition("=")[0] for line in lines if not line.startswith("#")]

    assert set() == {name.removeprefix(PREFIX).lower() for name in names} - Settings.model_fields.keys()
