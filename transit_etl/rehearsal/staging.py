"""Stages what a rehearsal has collected, in the same process or in a second one that uses another core."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO

from pydantic import SecretStr

from transit_etl.rehearsal.journal import RehearsalError
from transit_etl.settings import Settings
from transit_etl.stage import build_data_docs, stage


@dataclass(slots=True)
class Problems:
    """What was rejected and what failed in staging, as sentences, each of them once."""

    rejected: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def add(self, rejected: Sequence[str], errors: Sequence[str]) -> None:
        """Add the sentences of one run of staging."""
        self.rejected += [sentence for sentence in rejected if sentence not in self.rejected]
        self.errors += [sentence for sentence in errors if sentence not in self.errors]


class Staging:
    """Stages in this process, at once."""

    def __init__(self, settings: Settings) -> None:
        self.problems = Problems()
        self._settings = settings

    def begin(self, endpoints: Sequence[str]) -> None:
        """Stage the finished windows of some endpoints, after those of the calls before."""
        report = stage(self._settings, endpoints=endpoints, builds_pages=False)
        self.problems.add(report.rejected, report.errors)

    def wait(self) -> None:
        """Return once everything begun is staged."""

    def build_pages(self) -> None:
        """Build the pages about data quality: once, as each time takes seconds."""
        build_data_docs(self._settings)

    def close(self) -> None:
        """End the process that stages, if there is one."""


class SubprocessStaging(Staging):
    """Stages in a process of its own, which also ends when this one is killed.

    Requests and replies are lines of JSON. An interrupt from the terminal does not reach it.
    """

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._n_unanswered = 0
        self._process = subprocess.Popen(  # noqa: S603 - a program of ours
            [sys.executable, "-c", f"from {__name__} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - both are pipes
        assert self._process.stdout is not None  # noqa: S101
        self._requests, self._replies = self._process.stdin, self._process.stdout
        # staging needs no secret, and as text a secret is only asterisks
        secrets = {name for name, value in settings if isinstance(value, SecretStr)}
        self._send(settings.model_dump(mode="json", exclude=secrets))

    def begin(self, endpoints: Sequence[str]) -> None:
        """Have endpoints staged after those of the calls before."""
        self._send({"endpoints": list(endpoints)})
        self._n_unanswered += 1

    def build_pages(self) -> None:
        """Have the pages about data quality built after everything begun, and wait for them."""
        self.begin([])
        self.wait()

    def wait(self) -> None:
        """Wait for the replies; RehearsalError if the process has ended."""
        while self._n_unanswered:
            line = self._replies.readline()
            if not line:
                raise RehearsalError("the process that stages has ended; its error is above")
            self._n_unanswered -= 1
            self.problems.add(**json.loads(line))

    def close(self) -> None:
        """End the process once it has staged everything begun."""
        self._requests.close()
        self._process.wait()
        self._replies.close()

    def _send(self, request: object) -> None:
        try:
            self._requests.write(json.dumps(request).encode() + b"\n")
            self._requests.flush()
        except BrokenPipeError:
            raise RehearsalError("the process that stages has ended; its error is above") from None


def _serve(requests: IO[bytes], replies: int) -> None:
    """Stage what is requested until the requests end, or the process that made them has ended.

    A request without endpoints asks for the pages about data quality.
    """
    settings = Settings(**json.loads(requests.readline()))
    from transit_etl.stage import validation_context  # noqa: PLC0415 - takes seconds

    validation_context.shared_context()
    for line in requests:
        reply = json.dumps(_reply(settings, json.loads(line)["endpoints"])).encode() + b"\n"
        try:
            os.write(replies, reply)
        except BrokenPipeError:
            return


def _reply(settings: Settings, endpoints: Sequence[str]) -> dict[str, list[str]]:
    if not endpoints:
        build_data_docs(settings)
        return {"rejected": [], "errors": []}
    report = stage(settings, endpoints=endpoints, builds_pages=False)
    return {"rejected": report.rejected, "errors": report.errors}


def main() -> None:
    """Run as the second process: requests are read from standard input, replies go to standard output."""
    replies = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print must not mix with the replies
    _serve(sys.stdin.buffer, replies)
