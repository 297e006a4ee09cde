"""Serves an emulator from a process of its own for as long as somebody needs it."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import httpx

PATIENCE_SECONDS = 120


class NoAnswerError(Exception):
    """A server ended or does not answer; the message says where it was to be found."""


@dataclass(frozen=True)
class Server:
    """A running server of this machine."""

    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def base_url(self) -> str:
        """Where version 1 of the interface begins."""
        return f"http://127.0.0.1:{self.port}/api/v1/"


def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def first_answer(url: str, is_alive: Callable[[], bool]) -> httpx.Response:
    """Return what a starting server says; raises NoAnswerError when it ends before, or never says a thing."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while is_alive() and time.monotonic() < deadline:
        try:
            return httpx.get(url, timeout=PATIENCE_SECONDS).raise_for_status()
        except httpx.TransportError:
            time.sleep(0.1)
    raise NoAnswerError(f"nobody answers at {url}")


def without_settings() -> dict[str, str]:
    """Return this process's environment without any setting of transit-etl."""
    return {name: value for name, value in os.environ.items() if not name.startswith("TRANSIT_")}


@contextmanager
def serving(program: Sequence[str], port: int, *, stderr: int | None = None) -> Iterator[Server]:
    """Run a server meanwhile, from its first answer on; its settings are what its program says, no others."""
    process = subprocess.Popen([sys.executable, *program], stderr=stderr, env=without_settings())
    try:
        first_answer(f"http://127.0.0.1:{port}/", lambda: process.poll() is None)
        yield Server(port, process)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def emulator(*options: str) -> Iterator[Server]:
    """Serve `transit-etl emulator` with these options meanwhile."""
    port = free_port()
    with serving(["-m", "transit_etl.cli", "emulator", "--port", str(port), *options], port) as server:
        yield server
