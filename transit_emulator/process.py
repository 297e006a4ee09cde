"""Runs an emulator, or another server, in a process of its own, for tests, benchmarks and scripts."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

START_SECONDS = 120  # the longest that a server may take to start


class NoAnswerError(Exception):
    """A server ended, or did not answer in time; the message has its address."""


@dataclass(frozen=True)
class Server:
    """A server that runs on this machine."""

    port: int
    process: "subprocess.Popen[bytes]"

    @property
    def base_url(self) -> str:
        """The base address of version 1 of the interface."""
        return f"http://127.0.0.1:{self.port}/api/v1/"


def free_port() -> int:
    """Return a port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def first_answer(url: str, is_alive: Callable[[], bool]) -> httpx2.Response:
    """Return the first answer of a server that is starting; raise NoAnswerError if it ends or is too slow."""
    deadline = time.monotonic() + START_SECONDS
    while is_alive() and time.monotonic() < deadline:
        try:
            return httpx2.get(url, timeout=START_SECONDS).raise_for_status()
        except httpx2.TransportError:
            time.sleep(0.1)
    raise NoAnswerError(f"no answer from {url}")


@contextmanager
def server_process(command: Sequence[str], port: int, *, stderr: int | None = None) -> Iterator[Server]:
    """Run a server from its first answer to the end of the context; `port` is where it listens."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr)  # noqa: S603 - a program of the caller
    try:
        first_answer(f"http://127.0.0.1:{port}/", lambda: process.poll() is None)
        yield Server(port, process)
    finally:
        process.terminate()
        process.wait()


@contextmanager
def emulator_process(*options: str) -> Iterator[Server]:
    """Run `transit-etl emulator` with these options, on a free port, to the end of the context."""
    port = free_port()
    program = str(Path(sys.executable).with_name("transit-etl"))
    command = [program, "emulator", "--port", str(port), *options]
    with server_process(command, port) as server:
        yield server
