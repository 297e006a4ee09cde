"""Starts an Airflow with all DAGs and, unless TRANSIT_BASE_URL is set, the emulator, on this machine."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable

import httpx2
from rich.console import Console

from scripts.local_airflow import BIN, CHECKOUT, PROGRAMS, USER, environment, new_password, set_up
from scripts.stack import Program, Stack
from transit_base.errors import TransitError
from transit_etl.settings import load_with_sources

FOLDER = CHECKOUT / "data" / "up"
AIRFLOW_HOME = CHECKOUT / "data" / "airflow"
AIRFLOW_PORT, EMULATOR_PORT = 8080, 8400
AIRFLOW, EMULATOR = f"http://localhost:{AIRFLOW_PORT}", f"http://127.0.0.1:{EMULATOR_PORT}"
START_SECONDS = 180


class CannotStartError(Exception):
    """A program does not start; the message has its name and the path of its log."""


def main() -> int:
    """Start the programs unless they run, wait until they are healthy, and print their addresses."""
    stack = Stack(FOLDER)
    try:
        loaded = load_with_sources()
        data_dir = CHECKOUT / loaded.settings.data_dir
        inherited = {**os.environ, "TRANSIT_DATA_DIR": str(data_dir.resolve())}
        is_emulated = "base_url" not in loaded.sources
        if stack.programs() and ailing() is None:
            again = start_emulator(stack, inherited) if is_emulated and not is_answering(EMULATOR) else None
            Console().print("The emulator had ended: started again." if again else "Already running.")
            login = "as you were told when it was started; `make down` and `make up` give a new password"
        else:
            stack.stop()
            password = start(stack, inherited, is_emulated=is_emulated)
            login = f"user {USER}, password {password} (shown only now)"
    except (CannotStartError, TransitError, subprocess.CalledProcessError) as error:
        Console(stderr=True).print(f"up: {error}", style="red", highlight=False, soft_wrap=True)
        stack.stop()
        return 1
    Console().print(
        f"Airflow  {AIRFLOW}\n"
        f"Login    {login}\n"
        f"Upstream {EMULATOR if is_emulated else loaded.settings.base_url}\n"
        f"Data     {data_dir.resolve()}\n"
        f"Logs     {FOLDER}/*.log\n"
        "Stop it with `make down`.",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )
    return 0


def start(stack: Stack, inherited: dict[str, str], *, is_emulated: bool) -> str:
    """Start the emulator and Airflow; return its password once both answer. Raises CannotStartError."""
    require_free(AIRFLOW_PORT)
    if is_emulated:
        start_emulator(stack, inherited)
    airflow = environment(AIRFLOW_HOME, inherited, port=AIRFLOW_PORT)
    set_up(airflow)
    password = new_password(AIRFLOW_HOME)
    for name, words in PROGRAMS.items():
        stack.start(name, [BIN / "airflow", *words], airflow)
    wait_until(ailing, stack)
    return password


def start_emulator(stack: Stack, inherited: dict[str, str]) -> Program:
    """Start the emulator and wait until it answers. Raises CannotStartError."""
    require_free(EMULATOR_PORT)
    program = stack.start(
        "emulator", [BIN / "transit-etl", "emulator", "--port", str(EMULATOR_PORT)], inherited
    )
    wait_until(lambda: None if is_answering(EMULATOR) else "emulator", stack)
    return program


def require_free(port: int) -> None:
    """Raise CannotStartError if a program listens on a port of this machine."""
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise CannotStartError(f"port {port} is used by another program: stop that program first")


def wait_until(first_ailing: Callable[[], str | None], stack: Stack) -> None:
    """Return once no program is ailing; raise CannotStartError if one ends or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while name := first_ailing():
        newest = {program.name: program for program in stack.programs()}
        ended = [program.name for program in newest.values() if not program.processes()]
        if ended or time.monotonic() > deadline:
            name, how = (ended[0], "ended") if ended else (name, "takes too long to start")
            raise CannotStartError(f"{name} {how}: see {stack.log(name)}")
        time.sleep(0.5)


def is_answering(url: str) -> bool:
    """Tell whether a GET succeeds."""
    try:
        return httpx2.get(url, timeout=5).is_success
    except httpx2.TransportError:
        return False


def ailing() -> str | None:
    """Return the name of a program of Airflow that is not healthy; None where all are."""
    try:
        answer = httpx2.get(f"{AIRFLOW}/api/v2/monitor/health", timeout=5)
    except httpx2.TransportError:
        return "airflow"
    parts = answer.json() if answer.is_success else {"metadatabase": {"status": None}}
    names = (part.replace("_", "-") for part, health in parts.items() if health["status"] != "healthy")
    return next((name if name in PROGRAMS else "airflow" for name in names), None)


if __name__ == "__main__":
    sys.exit(main())
