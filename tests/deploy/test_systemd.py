"""The units for a single host: valid, and their commands collect, build and publish, also after restarts."""

import shutil
import subprocess
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_bytes, token_urlsafe

import httpx
import pytest

from scripts.stack import Program
from tests.collect.postgresql import PostgreSql, running_postgresql
from tests.deploy.units import KEPT_RUNNING, SERVICES, UNITS, Machine, service
from transit_emulator.process import emulator_process, free_port
from transit_etl.paths import raw_files
from transit_etl.settings import PREFIX, Settings
from transit_etl.warehouse import NotPublishedError, query

LONGEST_SECONDS = 900
ANALYZE = shutil.which("systemd-analyze")
_NEWEST = "select max(received_at) as at from core.requests where endpoint = 'passages' and outcome = 'ok'"


@dataclass(frozen=True, slots=True)
class Host:
    """A machine with its PostgreSQL, the address of its Airflow, and what its units write."""

    machine: Machine
    database: PostgreSql
    address: str
    data: Path
    running: dict[str, Program]

    def keep_running(self) -> None:
        """Start again what has ended, as `Restart=always` does."""
        for name in KEPT_RUNNING:
            if name not in self.running or not self.running[name].processes():
                self.running[name] = self.machine.start(name)

    def wait_until(self, is_reached: Callable[[], bool]) -> None:
        """Wait, and keep everything running meanwhile."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while not is_reached():
            assert time.monotonic() < deadline, self.log()
            self.keep_running()
            time.sleep(2)

    def is_healthy(self) -> bool:
        """Tell whether Airflow says that all its parts are well."""
        with suppress(httpx.TransportError):
            answer = httpx.get(f"{self.address}/api/v2/monitor/health", timeout=20)
            return answer.is_success and all(each["status"] == "healthy" for each in answer.json().values())
        return False

    def newest_published(self) -> datetime | None:
        """Return when the newest good answer in the published warehouse was received."""
        try:
            [row] = query(Settings(data_dir=self.data), _NEWEST).to_pylist()
        except NotPublishedError:
            return None
        at: datetime | None = row["at"]
        return at.replace(tzinfo=UTC) if at else None

    def log(self) -> str:
        """Return the end of what each unit printed."""
        return "\n".join(self.machine.stack.log(name).read_text()[-2000:] for name in KEPT_RUNNING)


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    port = free_port()
    with running_postgresql() as database, emulator_process() as emulator:
        connection = f"postgresql+psycopg://postgres@/postgres?host={database.folder}"
        machine = Machine(
            tmp_path,
            {
                "postgresql+psycopg:///airflow?host=/run/postgresql": connection,
                "8080": str(port),
                "FERNET_KEY=CHANGE-ME": f"FERNET_KEY={urlsafe_b64encode(token_bytes(32)).decode()}",
                "CHANGE-ME": token_urlsafe(32),
                "https://example.org/api/v1/": f"http://127.0.0.1:{emulator.port}/api/v1/",
                "TRANSIT_ALERT_URLS=": "TRANSIT_WINDOW_SECONDS=60",
            },
        )
        (tmp_path / "var/airflow/passwords.json").write_text('{"admin": "a password"}')
        host = Host(machine, database, f"http://localhost:{port}", tmp_path / "var/data", {})
        try:
            yield host
        finally:
            machine.stack.stop()


@pytest.mark.long
@pytest.mark.whole_command
@pytest.mark.timeout(2 * LONGEST_SECONDS + 600)
def test_a_host_collects_and_publishes_and_goes_on_after_restarts(host: Host, tmp_path: Path) -> None:
    host.machine.run("transit-etl-setup")
    host.keep_running()
    host.wait_until(host.is_healthy)
    host.wait_until(lambda: host.newest_published() is not None)

    assert 401 == httpx.get(f"{host.address}/api/v2/dags", timeout=30).status_code
    assert 401 == _login(host, "not the password").status_code
    assert _login(host, "a password").is_success

    host.database.restart()
    for process in host.running["transit-etl-scheduler"].processes():
        process.terminate()
    restarted_at = datetime.now(UTC)
    host.wait_until(lambda: (host.newest_published() or restarted_at) > restarted_at)
    host.wait_until(host.is_healthy)

    assert (tmp_path / "var/metrics/transit.prom").exists()
    host.machine.run("transit-etl-backup")
    host.machine.run("transit-etl-cleanup")
    assert list(raw_files(tmp_path / "backup"))


def _login(host: Host, password: str) -> httpx.Response:
    user = {"username": "admin", "password": password}
    return httpx.post(f"{host.address}/auth/token", json=user, timeout=30)


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
