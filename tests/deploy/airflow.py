"""An Airflow whose parts run as programs of this machine: kept running, logged into, asked for its runs."""

import time
from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_bytes, token_urlsafe

import httpx2

from scripts.stack import Program
from tests.collect.postgresql import PostgreSql

LONGEST_SECONDS = 900
USER, PASSWORD = "admin", "a password"
PASSWORDS = f'{{"{USER}": "{PASSWORD}"}}'  # the content of the file of the simple auth manager


def replacements(database: PostgreSql, port: int, upstream: str) -> dict[str, str]:
    """Return what a test writes instead of texts of examples: addresses, and secrets of its own."""
    return {
        "postgresql+psycopg:///airflow?host=/run/postgresql": (
            f"postgresql+psycopg://postgres@/postgres?host={database.folder}"
        ),
        "8080": str(port),
        "FERNET_KEY=CHANGE-ME": f"FERNET_KEY={urlsafe_b64encode(token_bytes(32)).decode()}",
        "CHANGE-ME": token_urlsafe(32),
        "https://example.org/api/v1/": upstream,
    }


@dataclass(frozen=True, slots=True)
class Airflow:
    """Its address, the names of its parts, how one is started, and where it logs."""

    address: str
    parts: Sequence[str]
    start: Callable[[str], Program]
    log_of: Callable[[str], Path]
    running: dict[str, Program] = field(default_factory=dict)

    def keep_running(self) -> None:
        """Start what does not run, as `Restart=always` of systemd does."""
        for name in self.parts:
            if name not in self.running or not self.running[name].processes():
                self.running[name] = self.start(name)

    def wait_until(self, is_reached: Callable[[], bool]) -> None:
        """Wait, and keep everything running meanwhile."""
        deadline = time.monotonic() + LONGEST_SECONDS
        while not is_reached():
            assert time.monotonic() < deadline, self.log()
            self.keep_running()
            time.sleep(2)

    def is_healthy(self) -> bool:
        """Tell whether Airflow says that all its parts are well."""
        with suppress(httpx2.TransportError):
            answer = httpx2.get(f"{self.address}/api/v2/monitor/health", timeout=20)
            return answer.is_success and {"healthy"} == {each["status"] for each in answer.json().values()}
        return False

    def login(self, password: str = PASSWORD) -> httpx2.Response:
        """Ask for a token of the one user."""
        user = {"username": USER, "password": password}
        return httpx2.post(f"{self.address}/auth/token", json=user, timeout=30)

    def trigger(self, dag: str) -> str:
        """Start a run by hand, and return its name."""
        return str(self._call("POST", f"dags/{dag}/dagRuns", {"logical_date": None}).json()["dag_run_id"])

    def has_succeeded(self, dag: str, run: str) -> bool:
        """Tell whether a run has ended well; AssertionError if it failed."""
        with suppress(httpx2.TransportError):
            state = self._call("GET", f"dags/{dag}/dagRuns/{run}").json()["state"]
            assert state != "failed", self.log()
            return bool(state == "success")
        return False

    def unpause(self, dag: str) -> bool:
        """Let the scheduler start runs of a DAG; False where Airflow does not know the DAG yet."""
        return self._set_paused(dag, is_paused=False)

    def pause(self, dag: str) -> bool:
        """Let the scheduler start no run of a DAG any more; False where Airflow cannot be told."""
        return self._set_paused(dag, is_paused=True)

    def states(self, dag: str) -> list[str]:
        """List the states of the runs of a DAG; none where Airflow does not know the DAG yet."""
        with suppress(httpx2.HTTPError):
            return [each["state"] for each in self._call("GET", f"dags/{dag}/dagRuns").json()["dag_runs"]]
        return []

    def log(self) -> str:
        """Return the end of what each part printed."""
        return "\n".join(self.log_of(name).read_text()[-2000:] for name in self.parts)

    def _set_paused(self, dag: str, *, is_paused: bool) -> bool:
        with suppress(httpx2.HTTPError):
            return self._call("PATCH", f"dags/{dag}", {"is_paused": is_paused}).is_success
        return False

    def _call(self, method: str, path: str, body: object = None) -> httpx2.Response:
        token = self.login().raise_for_status().json()["access_token"]
        answer = httpx2.request(
            method,
            f"{self.address}/api/v2/{path}",
            json=body,
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )
        return answer.raise_for_status()
