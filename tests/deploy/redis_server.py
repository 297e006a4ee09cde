"""A Redis server for the tests alone, from the program that `make setup` installs on Debian."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import redis

from transit_emulator.process import START_SECONDS, free_port


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A running server: its port, its password, and a way to restart it."""

    port: int
    password: str
    restart: Callable[[], None]


@contextmanager
def running_redis(settings: Path, folder: Path, password: str) -> Iterator[RedisServer]:
    """Run a server with a settings file, on a free port of this machine; skip the test without Redis."""
    found = shutil.which("redis-server")
    if found is None:
        pytest.skip("no Redis here: `make setup` installs it on Debian when root runs it")
    folder.mkdir()
    secret = folder / "password.conf"
    secret.write_text(f"requirepass {password}\n")
    port = free_port()
    command = [
        found, str(settings), "--include", str(secret), "--bind", "127.0.0.1", "--port", str(port),
        "--dir", str(folder), "--logfile", str(folder / "log"),
    ]  # fmt: skip
    running = [_started(command, port, password)]

    def restart() -> None:
        _stop(running.pop())
        running.append(_started(command, port, password))

    try:
        yield RedisServer(port, password, restart)
    finally:
        for process in running:
            _stop(process)


def _started(command: list[str], port: int, password: str) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(command)
    client = redis.Redis(port=port, password=password)
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            client.ping()
        except redis.ConnectionError:  # also while it still loads
            assert process.poll() is None, "Redis ended while it started"
            assert time.monotonic() < deadline, "Redis did not answer"
            time.sleep(0.05)
        else:
            return process


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    process.wait()
